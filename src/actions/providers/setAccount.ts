import { digestCredentials, identityScope, scopeOf } from '../../core/provider/accountIdentity.ts'
import type { SettingChange } from '../../core/provider/accountSettings.ts'
import type { ProviderAccount } from '../../core/provider/provider.ts'
import { providerCalled, openDeclared, settingsOfStored } from '../../runtime/providers/accounts.ts'
import { newBusinessId } from '../../runtime/ids.ts'
import {
  changingAccounts,
  findAccount,
  type StoredAccount,
  saveAccount,
} from '../../store/providers/accounts.ts'
import { addBusiness, listBusinesses } from '../../store/providers/businesses.ts'
import type { Db, Tx } from '../../store/db.ts'
import { type BusinessCredentials, mergeInto, openAttemptsOf } from './confirmBusiness.ts'
import { type AccountSetup, type Faulty, type Prepared, prepareAccount } from './prepareAccount.ts'

// `formerDigest`: of the credentials that it has now. Undefined where the new ones are the same.
export type PreparedChange = Prepared & { credentials: BusinessCredentials; formerDigest?: string }

// What an account would be with some settings changed. Its attempts are asked about by its name, so it has to stay in its
// environment at the provider: any other does not know their orders, and would say that there are none. Whether new
// credentials are of the same business only an operator can tell.
export function prepareChange(
  desk: AccountSetup,
  row: StoredAccount,
  changes: readonly SettingChange[],
): PreparedChange | Faulty {
  const kind = providerCalled(desk, row.provider)
  const before = settingsOfStored(row, desk)
  const prepared = prepareAccount(desk, row, before, changes)
  if (prepared.faults) return prepared
  const [former, now] = [formerPlaces(desk, row, before), placesOf(row, prepared.opened)]
  const other = former && now.findIndex((place, at) => place !== former[at])
  if (other !== undefined && other >= 0)
    return {
      faults: [
        `These are settings of another account at the provider (${now[other]} instead of ${former?.[other]}), ` +
          'which does not know the payments that are under way. Add it as an account of its own, and disable this one.',
      ],
    }
  const digest = digestCredentials(row.account, kind, prepared.given)
  const formerDigest = digestCredentials(row.account, kind, before)
  const scope = identityScope(row.provider, prepared.opened)
  return {
    ...prepared,
    credentials: { account: row.account, credentialsDigest: digest, scope },
    ...(formerDigest !== digest && { formerDigest }),
  }
}

// The provider's environment, and the scope of its references there.
const placesOf = ({ provider }: StoredAccount, opened: ProviderAccount) => [
  identityScope(provider, opened),
  opened.account,
]

function formerPlaces(
  desk: AccountSetup,
  row: StoredAccount,
  before: Record<string, string>,
): string[] | undefined {
  try {
    return placesOf(row, openDeclared(row, before, desk))
  } catch {
    return undefined // it was wrong before
  }
}

// The number of open attempts that go on only if the new credentials are of the same business. Undefined if that is known
// already: the credentials did not change, or the account had them before.
export async function attemptsInQuestion(
  db: Db,
  { credentials, formerDigest }: Pick<PreparedChange, 'credentials' | 'formerDigest'>,
): Promise<number | undefined> {
  if (formerDigest === undefined) return undefined
  const { account, credentialsDigest: digest, scope } = credentials
  const rows = await listBusinesses(db)
  if (rows.some(row => row.account === account && row.credentials_digest === digest)) return undefined
  const open = (await openAttemptsOf(db, account)).filter(
    ({ account_identity }) => account_identity !== null && scopeOf(account_identity) === scope,
  )
  return open.reduce((sum, { attempts }) => sum + attempts, 0)
}

// The answer. Without one, the new credentials are of another business until an operator confirms that they are not.
export type NewCredentials = Pick<PreparedChange, 'credentials' | 'formerDigest'> & {
  isSameBusiness: boolean
}

// In the commit that stores the credentials, so that no node opens them without their business.
async function saveBusiness(
  tx: Tx,
  { credentials, formerDigest, isSameBusiness }: NewCredentials,
  now: Date,
) {
  if (formerDigest === undefined) return
  const { account } = credentials
  await addBusiness(tx, { account, credentialsDigest: formerDigest, business: newBusinessId() }, now)
  await addBusiness(tx, { ...credentials, business: newBusinessId() }, now)
  if (!isSameBusiness) return
  const former = (await listBusinesses(tx)).find(
    row => row.account === account && row.credentials_digest === formerDigest,
  )
  if (former) await mergeInto(tx, credentials, former.business, now)
}

export type SavedAccount = 'saved' | 'changed_meanwhile'

// With what was read before: somebody else's change in between is not undone. A commit that was cut off is found done
// when the work runs again.
export const saveAccountChange = (
  db: Db,
  row: StoredAccount,
  changed: Partial<Pick<StoredAccount, 'label' | 'disabled_at'> & Prepared['sealed']>,
  now: Date,
  newCredentials?: NewCredentials,
): Promise<SavedAccount> =>
  changingAccounts(db, async tx => {
    const held = await findAccount(tx, row.account)
    if (held && held.version > row.version && held.updated_at.getTime() === now.getTime()) return 'saved' // by us
    if (held?.version !== row.version) return 'changed_meanwhile'
    await saveAccount(tx, row.account, { ...held, ...changed }, now)
    if (newCredentials) await saveBusiness(tx, newCredentials, now)
    return 'saved'
  })
