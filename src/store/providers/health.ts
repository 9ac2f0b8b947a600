import type { HealthRow } from '../../core/provider/health.ts'
import type { Attempt } from '../../core/payment/attempt.ts'
import { type Db, named, sql, type Tx } from '../db.ts'

const columns = sql`node, provider_account, payment_method, answered, late, unanswered, paid, declined, troubled, delays,
  breaker, rest_until, answered_at, paid_at, unknown_codes, last_error, last_error_at, is_refused, written_at`

// Replaces the rows of a node. Only the node itself writes its rows, so no write waits.
export const saveHealth = (db: Db, node: string, rows: readonly HealthRow[]) =>
  db.transaction(async tx => {
    const records = JSON.stringify(rows.map(row => ({ ...row, node })))
    await tx.count(sql`delete from provider_health where node = ${node}`)
    await tx.rows(sql`
      insert into provider_health (${columns})
      select ${columns} from jsonb_populate_recordset(null::provider_health, ${records}::jsonb)`)
  })

export const deleteHealthBefore = (db: Db, before: Date) =>
  db.count(sql`delete from provider_health where written_at < ${before}`)

export const listHealth = (tx: Tx) => tx.rows<HealthRow>(sql`select * from provider_health`)

export const healthOfOtherNodes = (tx: Tx, node: string, since: Date) =>
  tx.rows<HealthRow>(
    named(
      'health_of_other_nodes',
    )`select * from provider_health where node <> ${node} and written_at > ${since}`,
  )

// The payment methods of the accounts that a node has called, or that have open attempts.
export const listMethods = (tx: Tx) =>
  tx.rows<{ account: string; payment_method: string; open_attempts: number }>(sql`
    select provider_account as account, payment_method, sum(open)::integer as open_attempts from (
      select provider_account, payment_method, 0 as open from provider_health
      union all
      select provider_account, payment_method, count(*) from attempts
      where state not in ('paid', 'failed') group by provider_account, payment_method) as methods
    group by provider_account, payment_method order by provider_account, payment_method`)

// The attempt, unless a task about refused credentials of this account is open.
export const findRefusedAttempt = (tx: Tx, account: string, merchant_id: string, attempt_id: string) =>
  tx.one<Attempt>(sql`
    select * from attempts where merchant_id = ${merchant_id} and attempt_id = ${attempt_id} and not exists (
      select 1 from tasks t join attempts a on a.merchant_id = t.merchant_id and a.attempt_id = t.attempt_id
      where t.kind = 'account_refused' and t.closed_at is null and a.provider_account = ${account})`)

export const closeRefusalTasks = (tx: Tx, account: string, now: Date) =>
  tx.count(sql`
    update tasks t set closed_at = ${now}, closed_note = 'The provider accepts the credentials again.' from attempts a
    where t.kind = 'account_refused' and t.closed_at is null and a.merchant_id = t.merchant_id
      and a.attempt_id = t.attempt_id and a.provider_account = ${account}`)
