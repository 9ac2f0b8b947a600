import { raw } from 'sql-template-tag'
import type { Attempt } from '../../core/payment/attempt.ts'
import { named, sql, type Tx } from '../db.ts'
import { type AttemptInJson, attemptOfJson, type Failures } from './attempts.ts'
import type { PaymentKey } from './paymentKeys.ts'
import { merchantColumns, type PaymentWithMerchant } from './paymentLife.ts'

// Whoever changes payments holds their rows: changes of one payment come one after the other. These are of one merchant,
// as a sharded database wants it. Of many at once, what somebody else holds is left out; one alone is waited for.
export type Patience = 'skipping' | 'waiting'

const forUpdate = (of: string, patience: Patience) =>
  raw(`for update of ${of}${patience === 'skipping' ? ' skip locked' : ''}`)

export type Beginning = PaymentKey & {
  attempt: Pick<Attempt, 'instrument' | 'payer'>
  most: Record<keyof Failures, number> // tries in vain
  since: Date
}
export type ToBegin = PaymentWithMerchant & { attempts: Attempt[]; failures: Failures }
type RowToBegin = PaymentWithMerchant & {
  attempts: AttemptInJson[] | null
  instrument_failed_at: Date | null
  payer_failed_at: Date | null
}

// With their attempts, and how often wallet and payer have failed. A lock that came late gives the payment as it is now,
// and all else as it was a moment before: an attempt that was begun in between is met by the table's keys.
export async function lockToBegin(
  tx: Tx,
  merchant_id: string,
  all: readonly Beginning[],
  patience: Patience,
): Promise<ToBegin[]> {
  const rows = await tx.rows<RowToBegin>(named(`lock_to_begin_${patience}`)`
    select p.*, ${merchantColumns},
      (select jsonb_agg(to_jsonb(a) order by a.number) from attempts a
        where a.merchant_id = ${merchant_id} and a.tx_reference = p.tx_reference) as attempts,
      ${failedAt('instrument', merchant_id)} as instrument_failed_at,
      ${failedAt('payer', merchant_id)} as payer_failed_at
    from payments p join merchants m on m.merchant_id = p.merchant_id
      join unnest(${all.map(one => one.tx_reference)}::text[], ${all.map(one => one.attempt.instrument)}::text[],
        ${all.map(one => one.attempt.payer)}::text[], ${all.map(one => one.most.instrument - 1)}::integer[],
        ${all.map(one => one.most.payer - 1)}::integer[], ${all.map(one => one.since)}::timestamptz[])
        as k (tx_reference, instrument, payer, instrument_before, payer_before, since)
        on k.tx_reference = p.tx_reference
    where p.merchant_id = ${merchant_id} order by p.tx_reference ${forUpdate('p', patience)}`)
  return rows.map(({ attempts, instrument_failed_at, payer_failed_at, ...payment }) => ({
    ...payment,
    attempts: (attempts ?? []).map(attemptOfJson),
    failures: { instrument: instrument_failed_at, payer: payer_failed_at },
  }))
}

// Where there are as many as may be, the moment of the one that has to grow old before another may be made. What is still
// on its way counts as a failure until it is paid, or a crowd of tries would slip through at once. What never left us has
// tried nothing.
const failedAt = (whose: keyof Failures, merchant_id: string) => sql`
  (select f.created_at from attempts f where f.merchant_id = ${merchant_id} and f.state <> 'paid'
    and f.${raw(whose)} = k.${raw(whose)} and f.created_at > k.since and f.reason is distinct from 'not_sent'
    order by f.created_at desc offset k.${raw(whose)}_before limit 1)`

export type ToSettle = { payment: PaymentWithMerchant; attempt: Attempt }

// Both rows: of each it gives what is there now, however long the lock was waited for.
export async function lockToSettle(
  tx: Tx,
  merchant_id: string,
  attempt_ids: readonly string[],
  patience: Patience,
): Promise<ToSettle[]> {
  const rows = await tx.rows<PaymentWithMerchant & { attempt: AttemptInJson }>(named(
    `lock_to_settle_${patience}`,
  )`
    select p.*, ${merchantColumns}, to_jsonb(a) as attempt
    from attempts a join payments p on p.merchant_id = a.merchant_id and p.tx_reference = a.tx_reference
      join merchants m on m.merchant_id = p.merchant_id
    where a.merchant_id = ${merchant_id} and p.merchant_id = ${merchant_id}
      and a.attempt_id = any(${attempt_ids}) order by p.tx_reference ${forUpdate('p, a', patience)}`)
  return rows.map(({ attempt, ...payment }) => ({ payment, attempt: attemptOfJson(attempt) }))
}

export const lockToEnd = (tx: Tx, merchant_id: string, references: readonly string[], patience: Patience) =>
  tx.rows<PaymentWithMerchant>(named(`lock_to_end_${patience}`)`
    select p.*, ${merchantColumns} from payments p join merchants m on m.merchant_id = p.merchant_id
    where p.merchant_id = ${merchant_id} and p.tx_reference = any(${references})
    order by p.tx_reference ${forUpdate('p', patience)}`)
