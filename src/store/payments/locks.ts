import { raw } from 'sql-template-tag'
import type { Attempt } from '../../core/payment/attempt.ts'
import type { RecentFailures } from '../../core/payment/mayStart.ts'
import { named, sql, type Tx } from '../db.ts'
import { type AttemptInJson, attemptOfJson } from './attempts.ts'
import type { PaymentKey } from './paymentKeys.ts'
import { merchantColumns, type PaymentWithMerchant } from './paymentLife.ts'

// Whoever changes payments holds their rows: changes of one payment come one after the other. These are of one merchant,
// as a sharded database wants it. Of many at once, what somebody else holds is left out; one alone is waited for.
export type Patience = 'skipping' | 'waiting'

const forUpdate = (of: string, patience: Patience) =>
  raw(`for update of ${of}${patience === 'skipping' ? ' skip locked' : ''}`)

type Capped = 'instrument' | 'payer'

export type Beginning = PaymentKey & {
  attempt: Pick<Attempt, Capped>
  most: Record<Capped, number> // unpaid attempts since then
  since: Date
}
export type ToBegin = PaymentWithMerchant & { attempts: Attempt[]; failures: Record<Capped, RecentFailures> }
type RowToBegin = PaymentWithMerchant & {
  attempts: AttemptInJson[] | null
  instrument_failed_at: Date[]
  instrument_skipped: number
  payer_failed_at: Date[]
  payer_skipped: number
}

// With their attempts, and the unpaid attempts of the same wallet and of the same payer. `all` is in the order of arrival.
// A lock that was waited for gives the payment as it is now, and everything else as it was when the statement began: an
// attempt that was begun in between violates a unique key of the table.
export async function lockToBegin(
  tx: Tx,
  merchant_id: string,
  all: readonly Beginning[],
  patience: Patience,
): Promise<ToBegin[]> {
  const instrument = failuresToRead('instrument', all)
  const payer = failuresToRead('payer', all)
  const rows = await tx.rows<RowToBegin>(named(`lock_to_begin_${patience}`)`
    select p.*, ${merchantColumns},
      (select jsonb_agg(to_jsonb(a) order by a.number) from attempts a
        where a.merchant_id = ${merchant_id} and a.tx_reference = p.tx_reference) as attempts,
      ${failedAt('instrument', merchant_id)} as instrument_failed_at, k.instrument_skipped,
      ${failedAt('payer', merchant_id)} as payer_failed_at, k.payer_skipped
    from payments p join merchants m on m.merchant_id = p.merchant_id
      join unnest(${all.map(one => one.tx_reference)}::text[], ${all.map(one => one.attempt.instrument)}::text[],
        ${all.map(one => one.attempt.payer)}::text[],
        ${instrument.skipped}::integer[], ${instrument.read}::integer[],
        ${payer.skipped}::integer[], ${payer.read}::integer[], ${all.map(one => one.since)}::timestamptz[])
        as k (tx_reference, instrument, payer, instrument_skipped, instrument_read, payer_skipped, payer_read, since)
        on k.tx_reference = p.tx_reference
    where p.merchant_id = ${merchant_id} order by p.tx_reference ${forUpdate('p', patience)}`)
  return rows.map(
    ({ attempts, instrument_failed_at, instrument_skipped, payer_failed_at, payer_skipped, ...payment }) => ({
      ...payment,
      attempts: (attempts ?? []).map(attemptOfJson),
      failures: {
        instrument: { at: instrument_failed_at, skipped: instrument_skipped },
        payer: { at: payer_failed_at, skipped: payer_skipped },
      },
    }),
  )
}

// Usually the failure at the place of the cap is enough. Where others of the same wallet or payer come before it in this
// transaction, each of them may fill a place, so as many more are read.
function failuresToRead(whose: Capped, all: readonly Beginning[]) {
  const earlier = new Map<string | null, number>()
  const places = all.map(({ attempt: { [whose]: value }, most: { [whose]: cap } }) => {
    const before = earlier.get(value) ?? 0
    earlier.set(value, before + 1)
    const skipped = Math.max(0, cap - 1 - before)
    return { skipped, read: cap - skipped }
  })
  return { skipped: places.map(({ skipped }) => skipped), read: places.map(({ read }) => read) }
}

// An attempt that is still unresolved counts as a failure until it is paid, or a burst of attempts would pass at once. An
// attempt that was never sent does not count.
const failedAt = (whose: Capped, merchant_id: string) => sql`
  array(select f.created_at from attempts f where f.merchant_id = ${merchant_id} and f.state <> 'paid'
    and f.${raw(whose)} = k.${raw(whose)} and f.created_at > k.since and f.reason is distinct from 'not_sent'
    order by f.created_at desc offset k.${raw(whose)}_skipped limit k.${raw(whose)}_read)`

export type ToResolve = { payment: PaymentWithMerchant; attempt: Attempt }

// Both rows: of each it gives what is there now, however long the lock was waited for.
export async function lockToResolve(
  tx: Tx,
  merchant_id: string,
  attempt_ids: readonly string[],
  patience: Patience,
): Promise<ToResolve[]> {
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
