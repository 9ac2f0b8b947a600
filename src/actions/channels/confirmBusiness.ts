import { businessOf, scopeOf } from '../../core/channel/accountIdentity.ts'
import { newBusinessId } from '../../runtime/ids.ts'
import { changingAccounts } from '../../store/channels/accounts.ts'
import {
  addBusiness,
  closeNotSetUp,
  countOpenByIdentity,
  listBusinesses,
  mergeBusiness,
  type OpenAttempts,
  resumeAttempts,
} from '../../store/channels/businesses.ts'
import type { Db, Tx } from '../../store/db.ts'

// The credentials of an account as they are now, and the provider and environment that they open.
export type Credentials = { account: string; credentialsDigest: string; scope: string }
export type OtherBusiness = { business: string; attempts: number } // open ones

export type Confirmed =
  | { done: 'confirmed'; attempts: number }
  | { done: 'nothing' } // no attempt of another business is open
  | { done: 'several'; businesses: readonly OtherBusiness[] }

const note = 'The credentials were confirmed to be of the same business.'

// An operator confirms that the credentials of an account are of the business that its open attempts were made for. All
// nodes go on with those attempts within a second. `business` says which, where attempts of several are open.
export const confirmBusiness = (
  db: Db,
  credentials: Credentials,
  now: Date,
  business?: string,
): Promise<Confirmed> =>
  changingAccounts(db, async tx => {
    await addBusiness(tx, { ...credentials, business: newBusinessId() }, now)
    const others = await otherBusinesses(tx, credentials)
    const chosen = business === undefined ? others : others.filter(one => one.business === business)
    const [other] = chosen
    if (!other) return { done: 'nothing' }
    if (chosen.length > 1) return { done: 'several', businesses: others }
    await mergeInto(tx, credentials, other.business, now)
    return { done: 'confirmed', attempts: other.attempts }
  })

// Businesses of open attempts under this account name that the credentials are not known to belong to.
// Attempts of another environment are none of them: no confirmation makes these the same.
export async function otherBusinesses(tx: Tx, { account, credentialsDigest, scope }: Credentials) {
  const rows = (await listBusinesses(tx)).filter(row => row.account === account)
  const own = rows.find(row => row.credentials_digest === credentialsDigest)
  const current = (id: string) => rows.find(row => row.first_business === id)?.business ?? id
  const counts = new Map<string, number>()
  for (const { account_identity, attempts } of await openAttemptsOf(tx, account)) {
    if (account_identity === null || scopeOf(account_identity) !== scope) continue
    const business = current(businessOf(account_identity))
    if (business !== own?.business) counts.set(business, (counts.get(business) ?? 0) + attempts)
  }
  return [...counts].map(([business, attempts]): OtherBusiness => ({ business, attempts }))
}

export const openAttemptsOf = async (tx: Tx, account: string): Promise<OpenAttempts[]> =>
  (await countOpenByIdentity(tx)).filter(({ channel }) => channel === account)

// The credentials, and all that are known to be of the same business as they, become those of `into`. Under the lock of
// `changingAccounts`.
export async function mergeInto(
  tx: Tx,
  { account, credentialsDigest }: Credentials,
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
  const open = await openAttemptsOf(tx, account)
  const identities = open.flatMap(({ account_identity }) =>
    account_identity && ids.includes(businessOf(account_identity)) ? [account_identity] : [],
  )
  await resumeAttempts(tx, account, identities, now)
  await closeNotSetUp(tx, account, identities, note, now)
}
