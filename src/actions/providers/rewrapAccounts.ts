import { changingAccounts, findAccount, listAccounts, saveAccount } from '../../store/providers/accounts.ts'
import { rewrapped } from '../../store/providers/sealedSettings.ts'
import { deleteTokensExcept } from '../../store/providers/tokens.ts'
import type { Db } from '../../store/db.ts'
import { type MasterKeys, masterKeyId, type WrappedKey } from '../../store/merchants/vault.ts'
import type { Rewrapped } from '../merchants/rewrapKeys.ts'

// Wraps the data keys of all accounts with the newest master key. Tokens are deleted, and requested again when needed.
export async function rewrapAccounts(db: Db, masterKeys: MasterKeys, now: Date): Promise<Rewrapped> {
  const newest = masterKeyId(masterKeys.newest())
  const result: Rewrapped = { changed: 0, failed: [] }
  for (const { account, master_key_id } of await listAccounts(db)) {
    if (master_key_id === newest) continue
    if (await rewrapAccount(db, masterKeys, account, now)) result.changed++
    else result.failed.push(account)
  }
  await deleteTokensExcept(db, newest)
  return result
}

// It gets a new version, so that a node that could not open it tries again.
const rewrapAccount = (db: Db, masterKeys: MasterKeys, name: string, now: Date): Promise<boolean> =>
  changingAccounts(db, async tx => {
    const account = await findAccount(tx, name)
    const key = account && keyOrUndefined(() => rewrapped(masterKeys, account))
    if (!key) return false
    await saveAccount(tx, name, { ...account, ...key }, now)
    return true
  })

// A key that no master key opens stays as it is.
function keyOrUndefined(wrap: () => WrappedKey): WrappedKey | undefined {
  try {
    return wrap()
  } catch {
    return undefined
  }
}
