import { accountsSince, highestVersion, listAccounts } from '../../store/channels/accounts.ts'
import type { Db } from '../../store/db.ts'
import { databaseDeadline } from '../inTime.ts'
import { type Account, type Opening, storedAccount } from './accounts.ts'

export type OnFault = (account: Account) => void

// The accounts that the database has, by their names, as far as this node has heard of them.
export function createStoredAccounts(db: Db, opening: Opening, onFault: OnFault) {
  const accounts = new Map<string, Account>()
  let version = 0n

  // Whether any has changed: one question for a number where none has. Those that have are opened anew. A lower number is
  // that of a backup: what it does not have is gone.
  async function look(): Promise<boolean> {
    const inTime = db.until(databaseDeadline())
    const highest = await highestVersion(inTime)
    if (highest === version) return false
    const rows = await (highest > version ? accountsSince(inTime, version) : listAccounts(inTime))
    if (highest < version) forgetOthers(rows.map(({ account }) => account))
    for (const row of rows) {
      const account = storedAccount(row, opening, accounts.get(row.account))
      accounts.set(row.account, account)
      if (account.fault) onFault(account)
    }
    version = rows.reduce((most, row) => (row.version > most ? row.version : most), highest)
    return true
  }

  function forgetOthers(names: readonly string[]) {
    for (const name of accounts.keys()) if (!names.includes(name)) accounts.delete(name)
  }

  return { accounts: () => [...accounts.values()], look }
}
