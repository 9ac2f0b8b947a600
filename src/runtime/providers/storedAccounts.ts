import { accountsSince, highestVersions, listAccounts } from '../../store/providers/accounts.ts'
import type { Db } from '../../store/db.ts'
import { databaseDeadline } from '../deadline.ts'
import { type OpenedAccount, type Opening, storedAccount } from './accounts.ts'

export type OnFault = (account: OpenedAccount) => void

// The accounts that the database has, by their names, as far as this node has heard of them.
export function createStoredAccounts(db: Db, opening: Opening, onFault: OnFault) {
  const accounts = new Map<string, OpenedAccount>()
  let version = 0n
  let businesses = 0n

  // Whether any has changed, or the business of any: one question for two numbers where none has. Those that have are
  // opened anew. A lower number is that of a backup: what it does not have is gone.
  async function look(): Promise<boolean> {
    const inTime = db.withDeadline(databaseDeadline())
    const found = await highestVersions(inTime)
    const isConfirmed = found.businesses !== businesses
    const highest = found.accounts
    if (highest === version) {
      businesses = found.businesses
      return isConfirmed
    }
    const rows = await (highest > version ? accountsSince(inTime, version) : listAccounts(inTime))
    if (highest < version) forgetOthers(rows.map(({ account }) => account))
    for (const row of rows) {
      const account = storedAccount(row, opening, accounts.get(row.account))
      accounts.set(row.account, account)
      if (account.fault) onFault(account)
    }
    version = rows.reduce((most, row) => (row.version > most ? row.version : most), highest)
    businesses = found.businesses
    return true
  }

  function forgetOthers(names: readonly string[]) {
    for (const name of accounts.keys()) if (!names.includes(name)) accounts.delete(name)
  }

  return { accounts: () => [...accounts.values()], look }
}
