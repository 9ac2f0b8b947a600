import { newAccountName } from '../../runtime/ids.ts'
import { addStoredAccount, changingAccounts } from '../../store/providers/accounts.ts'
import type { Db } from '../../store/db.ts'
import type { Identity, Prepared } from './prepareAccount.ts'

export const newIdentity = (asked: Omit<Identity, 'account'>): Identity => ({
  account: newAccountName(asked.provider),
  ...asked,
})

// From the commit on it is offered, on every node within a second.
export const addAccount = (
  db: Db,
  identity: Identity,
  { sealed }: Prepared,
  label: string | null,
  now: Date,
) => changingAccounts(db, tx => addStoredAccount(tx, { ...identity, ...sealed, label, created_at: now }))
