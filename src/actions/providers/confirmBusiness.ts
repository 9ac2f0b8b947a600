import { businessOf, identityName, scopeOf } from '../../core/provider/accountIdentity.ts'
import { newBusinessId } from '../../runtime/ids.ts'
import { changingAccounts } from '../../store/providers/accounts.ts'
import {
  addBusiness,
  closeNotSetUp,
  countOpenByIdentity,
  listBusinesses,
  mergeBusiness,
  type OpenAttempts,
  resumeAttempts,
} from '../../store/providers/businesses.ts'
import type { Db, Tx } from '../../store/db.ts'

// The current credentials of an account, and the provider and environment that they are for.
export type BusinessCredentials = { account: string; credentialsDigest: string; scope: string }
export type OtherBusiness = { business: string; attempts: number } // open ones

export type Confirmed =
  | { done: 'confirmed'; attempts: number }
  | { done: 'nothing' } // the account has had no other business
  | { done: 'several'; businesses: readonly OtherBusiness[] }

const note = 'The credentials were confirmed to belong to the same business.'

// An operator confirms that the credentials of an account belong to the business that its attempts were made for. All nodes
// continue these attempts within a second. `business` is needed if attempts of several businesses are open, or if none is
// open and the account has had several.
export const confirmBusiness = (
  db: Db,
  credentials: BusinessCredentials,
  now: Date,
  business?: string,
): Promise<Confirmed> =>
  changingAccounts(db, async tx => {
    await addBusiness(tx, { ...credentials, business: newBusinessId() }, now)
    const others = await otherBusinesses(tx, credentials)
    const open = others.filter(({ attempts }) => attempts > 0)
    const candidates = open.length > 0 ? open : others
    const chosen = business === undefined ? candidates : others.filter(one => one.business === business)
    const [other] = chosen
    if (!other) return { done: 'nothing' }
    if (chosen.length > 1) return { done: 'several', businesses: candidates }
    await mergeInto(tx, credentials, other.business, now)
    return { done: 'confirmed', attempts: other.attempts }
  })

// Other businesses that the account has had, with their open attempts. Attempts of another environment are not counted: a
// confirmation cannot make the environments the same.
async function otherBusinesses(tx: Tx, { account, credentialsDigest, scope }: BusinessCredentials) {
  const rows = (await listBusinesses(tx)).filter(row => row.account === account)
  const own = rows.find(row => row.credentials_digest === credentialsDigest)
  const current = (id: string) => rows.find(row => row.first_business === id)?.business ?? id
  const counts = new Map(rows.map(({ business }) => [business, 0]))
  for (const { account_identity, attempts } of await openAttemptsOf(tx, account)) {
    if (account_identity === null || scopeOf(account_identity) !== scope) continue
    const business = current(businessOf(account_identity))
    counts.set(business, (counts.get(business) ?? 0) + attempts)
  }
  return [...counts]
    .filter(([business]) => business !== own?.business)
    .map(([business, attempts]): OtherBusiness => ({ business, attempts }))
}

export const openAttemptsOf = async (tx: Tx, account: string): Promise<OpenAttempts[]> =>
  (await countOpenByIdentity(tx)).filter(({ provider_account }) => provider_account === account)

// Moves the credentials, and all others of their business, to the business `into`. Call it under the lock of
// `changingAccounts`.
export async function mergeInto(
  tx: Tx,
  { account, credentialsDigest, scope }: BusinessCredentials,
  into: string,
  now: Date,
) {
  const rows = (await listBusinesses(tx)).filter(row => row.account === account)
  const own = rows.find(row => row.credentials_digest === credentialsDigest)
  if (!own || own.business === into) return
  await mergeBusiness(tx, { account, from: own.business, into }, now)
  const ids = rows
    .filter(row => row.business === into || row.business === own.business)
    .flatMap(row => [row.business, row.first_business])
  const identities = [into, ...ids].map(id => identityName(scope, id))
  await resumeAttempts(tx, account, identities, now)
  await closeNotSetUp(tx, account, identities, note, now)
}
