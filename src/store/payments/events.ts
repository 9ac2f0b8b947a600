import type { NewEvent, PaymentEvent } from '../../core/payment/change.ts'
import { named, type Tx } from '../db.ts'
import { ofMerchants, statementPart } from '../groupStatement.ts'
import { type PaymentKey, paymentKeysOf } from './paymentKeys.ts'

type EventOfPayment = NewEvent & PaymentKey & { place: number }
type EventsOfPayment = { key: PaymentKey; events: readonly NewEvent[] }

// Numbers continue from the last one of each payment. The caller has locked the payment's row, so no two transactions
// count at once.
export function addEventsOfMany(changes: readonly EventsOfPayment[]) {
  const all: EventOfPayment[] = changes.flatMap(({ key: { merchant_id, tx_reference }, events }) =>
    events.map((event, at) => ({ ...event, merchant_id, tx_reference, place: at + 1 })),
  )
  const { merchants, references } = paymentKeysOf(all)
  return statementPart('noted')`
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
      left join (select e.merchant_id, e.tx_reference, max(e.sequence) as sequence
          from unnest(${merchants}::text[], ${references}::text[]) as k (merchant_id, tx_reference)
            join events e on e.merchant_id = k.merchant_id and e.tx_reference = k.tx_reference
              and ${ofMerchants('e', all)}
          group by e.merchant_id, e.tx_reference) as last
        on last.merchant_id = new.merchant_id and last.tx_reference = new.tx_reference`
}

export async function addEvents(tx: Tx, key: PaymentKey, events: readonly NewEvent[]) {
  if (events.length > 0) await tx.rows(addEventsOfMany([{ key, events }]))
}

export const eventsOf = (tx: Tx, merchant_id: string, tx_reference: string) =>
  tx.rows<PaymentEvent>(named('events_of')`
    select * from events where merchant_id = ${merchant_id} and tx_reference = ${tx_reference}
    order by sequence`)
