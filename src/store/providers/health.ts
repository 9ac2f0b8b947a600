import type { BreakerState } from '../../core/provider/breaker.ts'
import type { CallCounts } from '../../core/provider/accountHealth.ts'
import { sql, type Tx } from '../db.ts'

// What one node has seen of one way of an account.
export type HealthRow = CallCounts & {
  node: string
  provider_account: string
  payment_method: string
  breaker: BreakerState
  rest_until: Date | null
  answered_at: Date | null
  paid_at: Date | null
  unknown_codes: readonly UnknownCodeCount[]
  last_error: string | null
  last_error_at: Date | null
  is_refused: boolean
  written_at: Date
}
export type UnknownCodeCount = { sample: string; count: number }

// Those of one node, in one statement. Nobody else writes them, so nobody waits.
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

// What others wrote lately.
export const healthOfOthers = (tx: Tx, node: string, since: Date) =>
  tx.rows<HealthRow>(sql`select * from provider_health where node <> ${node} and written_at > ${since}`)

export const forgetHealth = (tx: Tx, before: Date) =>
  tx.count(sql`delete from provider_health where written_at < ${before}`)

export type OpenCount = { provider_account: string; payment_method: string; open: number }

// Attempts whose outcome is not known yet, by account and way.
export const countOpenAttempts = (tx: Tx) =>
  tx.rows<OpenCount>(sql`
    select provider_account, payment_method, count(*)::integer as open from attempts
    where state not in ('paid', 'failed') group by provider_account, payment_method`)
