import type { NewEvent, PaymentEvent } from '../core/event.ts'
import type { Payment } from '../core/payment.ts'
import { named, sql, type Tx } from './db.ts'

type PaymentKey = Pick<Payment, 'merchant_id' | 'tx_reference'>

// Numbers go on from the last one. The payment's row is locked by the caller, so no two count at once.
export async function addEvents(tx: Tx, { merchant_id, tx_reference }: PaymentKey, events: NewEvent[]) {
  if (events.length === 0) return
  await tx.rows(named('add_events')`
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

export const eventsOf = (tx: Tx, merchant_id: string, tx_reference: string) =>
  tx.rows<PaymentEvent>(sql`
    select * from events where merchant_id = ${merchant_id} and tx_reference = ${tx_reference}
    order by sequence`)
