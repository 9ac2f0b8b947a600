import type { BusinessRow } from '../../core/provider/accountIdentity.ts'
import { sql, type Tx } from '../db.ts'

const nextVersion = sql`(select coalesce(max(version), 0) + 1 from provider_businesses)`

export const listBusinesses = (tx: Tx) =>
  tx.rows<BusinessRow>(sql`
    select account, credentials_digest, first_business, business from provider_businesses order by version`)

type NewBusiness = { account: string; credentialsDigest: string; business: string }

// Known credentials keep their business. Call it under the lock of `changingAccounts`.
export const addBusiness = (tx: Tx, { account, credentialsDigest, business }: NewBusiness, now: Date) =>
  tx.rows(sql`
    insert into provider_businesses (account, credentials_digest, first_business, business, seen_at, version)
    values (${account}, ${credentialsDigest}, ${business}, ${business}, ${now}, ${nextVersion})
    on conflict (account, credentials_digest) do nothing`)

// An operator has confirmed that two businesses are the same: all credentials of one become those of the other.
export const mergeBusiness = (
  tx: Tx,
  { account, from, into }: { account: string; from: string; into: string },
  now: Date,
) =>
  tx.rows(sql`
    update provider_businesses set business = ${into}, confirmed_at = ${now}, version = ${nextVersion}
    where account = ${account} and business = ${from}`)

// Attempts without an outcome, by the account identity that is stored with them.
export type OpenAttempts = {
  provider_account: string
  mode: 'test' | 'live' | null
  account_identity: string | null
  attempts: number
}

export const countOpenByIdentity = (tx: Tx) =>
  tx.rows<OpenAttempts>(sql`
    select provider_account, mode, account_identity, count(*)::integer as attempts from attempts
    where state not in ('paid', 'failed') group by provider_account, mode, account_identity`)

// After a confirmation, waiting attempts are due at once, and their tasks are closed.
export const resumeAttempts = (tx: Tx, account: string, identities: readonly string[], now: Date) =>
  tx.rows(sql`
    update attempts set next_poll_at = least(next_poll_at, ${now}), lease_until = null
    where provider_account = ${account} and account_identity = any(${identities}) and next_poll_at is not null`)

export const closeNotSetUp = (
  tx: Tx,
  account: string,
  identities: readonly string[],
  note: string,
  now: Date,
) =>
  tx.count(sql`
    update tasks t set closed_at = ${now}, closed_note = ${note} from attempts a
    where t.kind = 'not_set_up' and t.closed_at is null and a.merchant_id = t.merchant_id
      and a.attempt_id = t.attempt_id and a.provider_account = ${account} and a.account_identity = any(${identities})`)
