import type { BusinessRow } from '../../core/provider/accountIdentity.ts'
import { changingAccounts } from '../../store/providers/accounts.ts'
import { addBusiness, listBusinesses } from '../../store/providers/businesses.ts'
import type { Db } from '../../store/db.ts'
import { newBusinessId } from '../ids.ts'
import type { OpenedAccount } from './accounts.ts'

// The business of every account that is open here. Credentials that the database has never seen get a new business: the
// first node to see them stores it, and all others read it. Whatever cannot be read or stored is thrown, never guessed.
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
