import { changingAccounts, findAccount, listAccounts, saveAccount } from '../../store/providers/accounts.ts'
import { rewrapped } from '../../store/providers/sealedSettings.ts'
import { forgetTokensBut } from '../../store/providers/tokens.ts'
import type { Db } from '../../store/db.ts'
import { type MasterKeys, masterKeyId, type WrappedKey } from '../../store/merchants/vault.ts'
import type { Rewrapped } from '../merchants/rewrapKeys.ts'

// The same as with merchants, for accounts at providers. Their tokens are forgotten, and made anew when they are needed.
export async function rewrapAccounts(db: Db, masterKeys: MasterKeys, now: Date): Promise<Rewrapped> {
  const newest = masterKeyId(masterKeys.newest())
  const result: Rewrapped = { changed: 0, failed: [] }
  for (const { account, master_key_id } of await listAccounts(db)) {
    if (master_key_id === newest) continue
    if (await rewrapAccount(db, masterKeys, account, now)) result.changed++
    else result.failed.push(account)
  }
  await forgetTokensBut(db, newest)
  return result
}

// A new version of it, so that a node which could not open it tries again.
const rewrapAccount = (db: Db, masterKeys: MasterKeys, name: string, now: Date): Promise<boolean> =>
  changingAccounts(db, async tx => {
    const account = await findAccount(tx, name)
    const key = account && openKey(() => rewrapped(masterKeys, account))
    if (!key) return false
    await saveAccount(tx, name, { ...account, ...key }, now)
    return true
  })

function openKey(wrap: () => WrappedKey): WrappedKey | undefined {
  try {
    return wrap()
  } catch {
    return undefined
  }
}
