import type { NodeHealth } from '../../core/provider/health.ts'
import type { Attempt } from '../../core/payment/attempt.ts'
import { named, sql, type Tx } from '../db.ts'

// What one node has seen of one payment method of an account. Only that node writes the row, so no write waits.
export type HealthRow = NodeHealth & {
  node: string
  provider_account: string
  payment_method: string
  rest_until: Date | null // the provider asked for a pause until then
}

export const saveHealth = (tx: Tx, rows: readonly HealthRow[]) =>
  tx.rows(sql`
    insert into provider_health (node, provider_account, payment_method, answered, late, unanswered, paid, declined, troubled,
      delays, breaker, rest_until, answered_at, paid_at, unknown_codes, last_error, last_error_at, is_refused, written_at)
    select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (node text, provider_account text, payment_method text,
      answered integer, late integer, unanswered integer, paid integer, declined integer, troubled integer,
      delays integer[], breaker text, rest_until timestamptz, answered_at timestamptz, paid_at timestamptz,
      unknown_codes jsonb, last_error text, last_error_at timestamptz, is_refused boolean, written_at timestamptz)
    on conflict (node, provider_account, payment_method) do update set answered = excluded.answered, late = excluded.late,
      unanswered = excluded.unanswered, paid = excluded.paid, declined = excluded.declined,
      troubled = excluded.troubled, delays = excluded.delays, breaker = excluded.breaker,
      rest_until = excluded.rest_until, answered_at = excluded.answered_at, paid_at = excluded.paid_at,
      unknown_codes = excluded.unknown_codes, last_error = excluded.last_error, last_error_at = excluded.last_error_at,
      is_refused = excluded.is_refused, written_at = excluded.written_at`)

export const listHealth = (tx: Tx) =>
  tx.rows<HealthRow>(sql`select * from provider_health order by provider_account, payment_method, node`)

export const healthOfOtherNodes = (tx: Tx, node: string, since: Date) =>
  tx.rows<HealthRow>(sql`select * from provider_health where node <> ${node} and written_at > ${since}`)

export const deleteHealthBefore = (tx: Tx, before: Date) =>
  tx.count(sql`delete from provider_health where written_at < ${before}`)

export type OpenCount = { provider_account: string; payment_method: string; open: number }

export const countOpenAttempts = (tx: Tx) =>
  tx.rows<OpenCount>(sql`
    select provider_account, payment_method, count(*)::integer as open from attempts
    where state not in ('paid', 'failed') group by provider_account, payment_method`)

// Whether a task already says that the provider refuses the credentials of this account.
export const hasRefusalTask = async (tx: Tx, account: string): Promise<boolean> =>
  (await tx.one(sql`
    select 1 from tasks t join attempts a on a.merchant_id = t.merchant_id and a.attempt_id = t.attempt_id
    where t.kind = 'account_refused' and t.closed_at is null and a.provider_account = ${account} limit 1`)) !==
  undefined

export const closeRefusalTasks = (tx: Tx, account: string, note: string, now: Date) =>
  tx.count(sql`
    update tasks t set closed_at = ${now}, closed_note = ${note} from attempts a
    where t.kind = 'account_refused' and t.closed_at is null and a.merchant_id = t.merchant_id
      and a.attempt_id = t.attempt_id and a.provider_account = ${account}`)

export const findAttempt = (tx: Tx, merchant_id: string, attempt_id: string) =>
  tx.one<Attempt>(named('find_attempt')`
    select * from attempts where merchant_id = ${merchant_id} and attempt_id = ${attempt_id}`)
