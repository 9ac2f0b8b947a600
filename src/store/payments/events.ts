import type { NewEvent, PaymentEvent } from '../../core/payment/event.ts'
import { named, sql, type Tx } from '../db.ts'
import { type PaymentKey, paymentKeysOf } from './paymentKeys.ts'

type EventOfPayment = NewEvent & PaymentKey & { place: number }

// Numbers go on from the last one. The payment's row is locked by the caller, so no two count at once.
export async function addEvents(
  tx: Tx,
  { merchant_id, tx_reference }: PaymentKey,
  events: readonly NewEvent[],
) {
  if (events.length === 0) return undefined
  return tx.rows(named('add_events')`
    insert into events (merchant_id, tx_reference, sequence, kind, cause, attempt_id, from_status, to_status,
      reason, at)
    select ${merchant_id}, ${tx_reference}, last.sequence + new.ordinality, new.kind, new.cause, new.attempt_id,
      new.from_status, new.to_status, new.reason, new.at
    from (select coalesce(max(sequence), 0) as sequence from events
        where merchant_id = ${merchant_id} and tx_reference = ${tx_reference}) as last,
      unnest(${events.map(e => e.kind)}::text[], ${events.map(e => e.cause)}::text[],
        ${events.map(e => e.attempt_id)}::text[], ${events.map(e => e.from_status)}::text[],
        ${events.map(e => e.to_status)}::text[], ${events.map(e => e.reason)}::text[],
        ${events.map(e => e.at)}::timestamptz[]) with ordinality
        as new (kind, cause, attempt_id, from_status, to_status, reason, at, ordinality)`)
}

type EventsOfPayment = { key: PaymentKey; events: readonly NewEvent[] }

// The same for many. One alone is quicker by itself.
export async function addEventsOfMany(tx: Tx, news: readonly EventsOfPayment[]) {
  const [first, ...more] = news
  if (first && more.length === 0) return addEvents(tx, first.key, first.events)
  const all: EventOfPayment[] = news.flatMap(({ key: { merchant_id, tx_reference }, events }) =>
    events.map((event, at) => ({ ...event, merchant_id, tx_reference, place: at + 1 })),
  )
  if (all.length === 0) return undefined
  const { merchants, references } = paymentKeysOf(all)
  return tx.rows(sql`
    insert into events (merchant_id, tx_reference, sequence, kind, cause, attempt_id, from_status, to_status,
      reason, at)
    select new.merchant_id, new.tx_reference, coalesce(last.sequence, 0) + new.place, new.kind, new.cause,
      new.attempt_id, new.from_status, new.to_status, new.reason, new.at
    from unnest(${merchants}::text[], ${references}::text[], ${all.map(e => e.place)}::integer[],
        ${all.map(e => e.kind)}::text[], ${all.map(e => e.cause)}::text[],
        ${all.map(e => e.attempt_id)}::text[], ${all.map(e => e.from_status)}::text[],
        ${all.map(e => e.to_status)}::text[], ${all.map(e => e.reason)}::text[],
        ${all.map(e => e.at)}::timestamptz[])
        as new (merchant_id, tx_reference, place, kind, cause, attempt_id, from_status, to_status, reason, at)
      left join (select k.merchant_id, k.tx_reference, max(e.sequence) as sequence
          from unnest(${merchants}::text[], ${references}::text[]) as k (merchant_id, tx_reference)
            join events e on e.merchant_id = k.merchant_id and e.tx_reference = k.tx_reference
          group by k.merchant_id, k.tx_reference) as last
        on last.merchant_id = new.merchant_id and last.tx_reference = new.tx_reference`)
}

export const eventsOf = (tx: Tx, merchant_id: string, tx_reference: string) =>
  tx.rows<PaymentEvent>(sql`
    select * from events where merchant_id = ${merchant_id} and tx_reference = ${tx_reference}
    order by sequence`)
