import type { BusinessRow } from '../../core/provider/accountIdentity.ts'
import type { Db } from '../../store/db.ts'
import { databaseDeadline } from '../deadline.ts'
import {
  accountsSince,
  changingAccounts,
  highestVersions,
  listAccounts,
} from '../../store/providers/accounts.ts'
import { addBusiness, listBusinesses } from '../../store/providers/businesses.ts'
import { newBusinessId } from '../ids.ts'
import { type OpenedAccount, type Opening, storedAccount } from './accounts.ts'

export type OnFault = (account: OpenedAccount) => void

// The accounts in the database, opened on this node.
export function createStoredAccounts(db: Db, opening: Opening, onFault: OnFault) {
  const accounts = new Map<string, OpenedAccount>()
  let version = 0n
  let businesses = 0n

  // Returns whether an account or a business has changed since the last call. If nothing has, it only reads two version
  // numbers.
  async function refresh(): Promise<boolean> {
    const inTime = db.withDeadline(databaseDeadline())
    const highest = await highestVersions(inTime)
    const hasChanged = highest.accounts !== version || highest.businesses !== businesses
    if (highest.accounts !== version) await openChanged(inTime, highest.accounts)
    businesses = highest.businesses
    return hasChanged
  }

  // A lower version means that a backup was restored: accounts that it does not have are removed.
  async function openChanged(inTime: Db, highest: bigint) {
    const rows = await (highest > version ? accountsSince(inTime, version) : listAccounts(inTime))
    if (highest < version)
      for (const name of accounts.keys())
        if (!rows.some(({ account }) => account === name)) accounts.delete(name)
    for (const row of rows) {
      const account = storedAccount(row, opening, accounts.get(row.account))
      accounts.set(row.account, account)
      if (account.fault) onFault(account)
    }
    version = rows.reduce((most, row) => (row.version > most ? row.version : most), highest)
  }

  return { accounts: () => [...accounts.values()], refresh }
}

// The businesses of all open accounts. Credentials that are new to the database get a new business: the first node stores
// it, and the other nodes read it. Errors are thrown: a business is never guessed.
export async function readBusinesses(
  db: Db,
  accounts: readonly OpenedAccount[],
  { isReadOnly, now }: { isReadOnly: boolean; now: Date },
): Promise<readonly BusinessRow[]> {
  const rows = await listBusinesses(db)
  const isKnown = ({ account, credentialsDigest }: OpenedAccount) =>
    rows.some(row => row.account === account && row.credentials_digest === credentialsDigest)
  const unknown = accounts.filter(one => one.opened && !isKnown(one))
  if (isReadOnly || unknown.length === 0) return rows
  return changingAccounts(db, async tx => {
    for (const { account, credentialsDigest } of unknown)
      if (credentialsDigest)
        await addBusiness(tx, { account, credentialsDigest, business: newBusinessId() }, now)
    return listBusinesses(tx)
  })
}
