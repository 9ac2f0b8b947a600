import type { Tx } from '../../store/db.ts'
import { listMerchants } from '../../store/merchants/merchants.ts'
import { type MasterKeys, unwrapKey } from '../../store/merchants/vault.ts'

export type UnreadableSecrets = {
  merchant_id: string
  merchant_name: string
  master_key_id: string
  why: string
}

// The merchants whose secrets this process cannot open, because their row was damaged or their master key is lost. Their
// requests are refused, and nobody else's. A command without any master key cannot tell.
export async function unreadableSecrets(db: Tx, masterKeys: MasterKeys): Promise<UnreadableSecrets[]> {
  if (masterKeys.ids().length === 0) return []
  return (await listMerchants(db)).flatMap(merchant => {
    const { merchant_id, name: merchant_name, master_key_id } = merchant
    if (!masterKeys.byId(master_key_id))
      return [{ merchant_id, merchant_name, master_key_id, why: `master key ${master_key_id} is missing` }]
    try {
      unwrapKey(masterKeys, merchant_id, merchant)
      return []
    } catch {
      return [{ merchant_id, merchant_name, master_key_id, why: 'its data key was changed or damaged' }]
    }
  })
}

const keptMs = 60_000

// The same for a page that refreshes itself: each check reads all merchants and opens a key of each, so its result is used for
// a minute, by all who look.
export function createSecretsCheck(masterKeys: MasterKeys, now = () => performance.now()) {
  let last: { at: number; found: Promise<UnreadableSecrets[]> } | undefined
  return async (db: Tx): Promise<UnreadableSecrets[]> => {
    if (!last || now() - last.at >= keptMs) last = { at: now(), found: unreadableSecrets(db, masterKeys) }
    const { found } = last
    try {
      return await found
    } catch (error) {
      if (last?.found === found) last = undefined
      throw error
    }
  }
}

export const describeUnreadable = ({ merchant_id, merchant_name, why }: UnreadableSecrets) =>
  `${merchant_name} (${merchant_id}) cannot be opened: ${why}`

export const unreadableTodo =
  'Their requests are refused. If the key is lost, restore the row of that merchant from a backup, or register the merchant again.'
