import type { Change } from '../../core/channel/accountSettings.ts'
import { kindOf, openDeclared, settingsOfStored } from '../../runtime/channels/accounts.ts'
import {
  changingAccounts,
  findAccount,
  type StoredAccount,
  saveAccount,
} from '../../store/channels/accounts.ts'
import type { Db } from '../../store/db.ts'
import { type Desk, type Faulty, type Prepared, prepareAccount } from './prepareAccount.ts'

// What an account would be with some settings changed. Its attempts are asked about by its name, so its new credentials
// have to be of the same account at the provider: any other does not know their orders, and would say that there are none.
export function prepareChange(desk: Desk, row: StoredAccount, changes: readonly Change[]): Prepared | Faulty {
  kindOf(desk, row.channel)
  const before = settingsOfStored(row, desk)
  const prepared = prepareAccount(desk, row, before, changes)
  if (prepared.faults) return prepared
  const former = formerAccount(desk, row, before)
  if (former === undefined || former === prepared.opened.account) return prepared
  return {
    faults: [
      `These are the credentials of another account at the provider (${prepared.opened.account} instead of ${former}), ` +
        'which does not know the payments that are under way. Add it as an account of its own, and disable this one.',
    ],
  }
}

function formerAccount(desk: Desk, row: StoredAccount, before: Record<string, string>): string | undefined {
  try {
    return openDeclared(row, before, desk).account
  } catch {
    return undefined // it was wrong before
  }
}

export type Saved = 'saved' | 'changed_meanwhile'

// With what was read before: somebody else's change in between is not undone. A commit that was cut off is found done
// when the work runs again.
export const saveChange = (
  db: Db,
  row: StoredAccount,
  changed: Partial<Pick<StoredAccount, 'label' | 'disabled_at'> & Prepared['sealed']>,
  now: Date,
): Promise<Saved> =>
  changingAccounts(db, async tx => {
    const held = await findAccount(tx, row.account)
    if (held && held.version > row.version && held.updated_at.getTime() === now.getTime()) return 'saved' // by us
    if (held?.version !== row.version) return 'changed_meanwhile'
    await saveAccount(tx, row.account, { ...held, ...changed }, now)
    return 'saved'
  })
