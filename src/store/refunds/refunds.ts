import type { Mode } from '../../core/mode.ts'
import type { Refund, RefundState } from '../../core/refund/refund.ts'
import { named, sql, type Tx } from '../db.ts'
import { ofMerchants, statementPart } from '../groupStatement.ts'

export type RefundKey = Pick<Refund, 'merchant_id' | 'refund_reference'>

export const insertRefunds = (all: readonly Refund[]) => statementPart('refund_added')`
  insert into refunds (merchant_id, refund_reference, refund_id, mode, tx_reference, invoice_id, attempt_id, source, kind,
    provider_account, account_identity, idempotency_key, amount, currency, reason, requested_by, operator, state,
    state_reason, next_poll_at, created_at, updated_at)
  select * from unnest(${all.map(r => r.merchant_id)}::text[], ${all.map(r => r.refund_reference)}::text[],
    ${all.map(r => r.refund_id)}::text[], ${all.map(r => r.mode)}::text[], ${all.map(r => r.tx_reference)}::text[],
    ${all.map(r => r.invoice_id)}::text[], ${all.map(r => r.attempt_id)}::text[], ${all.map(r => r.source)}::text[],
    ${all.map(r => r.kind)}::text[], ${all.map(r => r.provider_account)}::text[],
    ${all.map(r => r.account_identity)}::text[], ${all.map(r => r.idempotency_key)}::text[],
    ${all.map(r => r.amount)}::bigint[], ${all.map(r => r.currency)}::text[], ${all.map(r => r.reason)}::text[],
    ${all.map(r => r.requested_by)}::text[], ${all.map(r => r.operator)}::text[], ${all.map(r => r.state)}::text[],
    ${all.map(r => r.state_reason)}::text[], ${all.map(r => r.next_poll_at)}::timestamptz[],
    ${all.map(r => r.created_at)}::timestamptz[], ${all.map(r => r.updated_at)}::timestamptz[])`

// Everything that can change. `polls` is counted when the refund is claimed. `next_poll_at` changes only with the reply to
// the latest poll, which also ends its lease.
export const saveRefunds = (all: readonly Refund[]) => statementPart('refund_saved')`
  update refunds r set kind = c.kind, idempotency_key = c.idempotency_key, state = c.state, state_reason = c.state_reason,
    provider_ref = c.provider_ref, provider_code = c.provider_code, sends = c.sends, sent_at = c.sent_at,
    acknowledged_at = c.acknowledged_at,
    lease_until = case when r.next_poll_at = c.next_poll_at then r.lease_until end, next_poll_at = c.next_poll_at,
    recorded_by = c.recorded_by, recorded_reference = c.recorded_reference, succeeded_at = c.succeeded_at,
    updated_at = c.updated_at, ended_at = c.ended_at
  from unnest(${all.map(r => r.merchant_id)}::text[], ${all.map(r => r.refund_reference)}::text[],
      ${all.map(r => r.kind)}::text[], ${all.map(r => r.idempotency_key)}::text[], ${all.map(r => r.state)}::text[],
      ${all.map(r => r.state_reason)}::text[], ${all.map(r => r.provider_ref)}::text[],
      ${all.map(r => r.provider_code)}::text[], ${all.map(r => r.sends)}::integer[],
      ${all.map(r => r.sent_at)}::timestamptz[], ${all.map(r => r.acknowledged_at)}::timestamptz[],
      ${all.map(r => r.next_poll_at)}::timestamptz[], ${all.map(r => r.recorded_by)}::text[],
      ${all.map(r => r.recorded_reference)}::text[], ${all.map(r => r.succeeded_at)}::timestamptz[],
      ${all.map(r => r.updated_at)}::timestamptz[], ${all.map(r => r.ended_at)}::timestamptz[])
    as c (merchant_id, refund_reference, kind, idempotency_key, state, state_reason, provider_ref, provider_code, sends,
      sent_at, acknowledged_at, next_poll_at, recorded_by, recorded_reference, succeeded_at, updated_at, ended_at)
  where r.merchant_id = c.merchant_id and r.refund_reference = c.refund_reference and ${ofMerchants('r', all)}`

// The refund that a webhook names by its id at the provider: a key of the provider, or our reference, which contains the
// merchant's id.
export const findRefundByKey = (
  tx: Tx,
  provider_account: string,
  key: string,
  merchant_id: string | undefined,
) =>
  merchant_id
    ? tx.one<Refund>(named('find_refund_by_own_key')`
        select * from refunds
        where merchant_id = ${merchant_id} and refund_reference = ${key} and provider_account = ${provider_account}
          and idempotency_key is null`)
    : tx.one<Refund>(named('find_refund_by_key')`
        select * from refunds where provider_account = ${provider_account} and idempotency_key = ${key} limit 1`)

type RefundDay = Pick<Refund, 'merchant_id' | 'mode' | 'currency'> & { since: Date }

// What a merchant has refunded since then. The lock of the merchant's row serializes the refunds of a merchant that has a daily limit, until the
// end of the transaction.
export async function refundedSince(
  tx: Tx,
  { merchant_id, mode, currency, since }: RefundDay,
): Promise<bigint> {
  await tx.rows(sql`select from merchants where merchant_id = ${merchant_id} for no key update`)
  const sum = await tx.one<{ sum: bigint }>(sql`
    select coalesce(sum(amount), 0)::bigint as sum from refunds
    where merchant_id = ${merchant_id} and mode = ${mode} and currency = ${currency} and created_at >= ${since}
      and requested_by = 'merchant' and state <> 'failed'`)
  return sum?.sum ?? 0n
}

export type RefundFilter = {
  merchant_id?: string
  mode?: Mode
  state?: RefundState
  refund_id?: string
  limit: number
}

// The newest first.
export const newestRefunds = (tx: Tx, { merchant_id, mode, state, refund_id, limit }: RefundFilter) =>
  tx.rows<Refund>(sql`
    select * from refunds
    where (${merchant_id ?? null}::text is null or merchant_id = ${merchant_id ?? null})
      and (${mode ?? null}::text is null or mode = ${mode ?? null})
      and (${state ?? null}::text is null or state = ${state ?? null})
      and (${refund_id ?? null}::text is null or refund_id = ${refund_id ?? null})
    order by created_at desc, refund_reference limit ${limit}`)
