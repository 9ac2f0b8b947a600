import { raw } from 'sql-template-tag'
import type { IpnStyle } from '../../core/merchant/settings.ts'
import type { Notification, NotificationKey } from '../../core/notification/notification.ts'
import type { UntrustedUrl } from '../../core/urlTrust.ts'
import { named, sql, type Tx } from '../db.ts'
import { groupStatement, ofMerchants, type StatementPart, statementPart } from '../groupStatement.ts'
import { type PaymentKey, paymentKeysOf, unnestPaymentKeys } from '../payments/paymentKeys.ts'
import { isSharded } from '../skipLocked.ts'

export type NewNotification = Omit<Notification, 'sequence'>
export type Destination = { url: UntrustedUrl; lane: string; style: IpnStyle }
export type NotificationToAdd = { notification: NewNotification; to: Destination | undefined }
export type NewDelivery = { notification: NewNotification; to: Destination }

// The lease of a reservation of the inline dispatch. `has`: the delivery of this payment is inserted with the lease.
export type InlineLease = { token: string; until: Date; has(key: PaymentKey): boolean }

export const newDeliveriesOf = (all: readonly NotificationToAdd[]): NewDelivery[] =>
  all.flatMap(({ notification, to }) => (to ? [{ notification, to }] : []))

// Inserts one notification each of many payments, and if it has a destination the delivery, which is due at once. Other
// open deliveries of the payment are not alone any more. The caller has locked the payments, so that the sequence is
// computed by one transaction at a time.
export function addNotifications(
  tx: Tx,
  all: readonly NotificationToAdd[],
  lease?: InlineLease,
): StatementPart[] {
  if (all.length === 0) return []
  const deliveries = newDeliveriesOf(all)
  const added = insertNotifications(all.map(({ notification }) => notification))
  return deliveries.length === 0
    ? [added]
    : [added, markSiblings(deliveries), insertDeliveries(tx, deliveries, lease)]
}

// The deliveries that were inserted with the lease.
export function leasedDeliveries(parts: readonly StatementPart[]) {
  const sent = parts.find(({ name }) => name.startsWith('sent'))
  return (
    sent &&
    named('leased')`
      select merchant_id, tx_reference, sequence from ${raw(sent.name)} where lease_token is not null`
  )
}

function insertNotifications(all: readonly NewNotification[]) {
  const { merchants, references } = paymentKeysOf(all)
  return statementPart('added')`
    insert into notifications (merchant_id, tx_reference, sequence, mode, status, type, body, created_at)
    select n.merchant_id, n.tx_reference, coalesce(last.sequence, 0) + 1, n.mode, n.status, n.type, n.body, n.created_at
    from unnest(${merchants}::text[], ${references}::text[], ${all.map(n => n.mode)}::text[],
        ${all.map(n => n.status)}::text[], ${all.map(n => n.type ?? 'status')}::text[], ${all.map(n => n.body)}::text[],
        ${all.map(n => n.created_at)}::timestamptz[])
        as n (merchant_id, tx_reference, mode, status, type, body, created_at)
      left join (select o.merchant_id, o.tx_reference, max(o.sequence) as sequence
          from ${unnestPaymentKeys(all)}
            join notifications o on o.merchant_id = k.merchant_id and o.tx_reference = k.tx_reference
              and ${ofMerchants('o', all)}
          group by o.merchant_id, o.tx_reference) as last
        on last.merchant_id = n.merchant_id and last.tx_reference = n.tx_reference
    returning merchant_id, tx_reference, sequence`
}

// The open deliveries of the same payments are not alone any more.
function markSiblings(all: readonly NewDelivery[]) {
  const keys = all.map(({ notification }) => notification)
  return statementPart('siblings')`
    update deliveries d set alone = false
    from ${unnestPaymentKeys(keys)}
    where d.merchant_id = k.merchant_id and d.tx_reference = k.tx_reference and d.next_try_at is not null
      and ${ofMerchants('d', keys)}
    returning d.merchant_id, d.tx_reference`
}

// A delivery without siblings may be inserted with a lease, as if it had been taken.
function insertDeliveries(tx: Tx, all: readonly NewDelivery[], lease: InlineLease | undefined) {
  const keys = all.map(({ notification }) => notification)
  const { merchants, references } = paymentKeysOf(keys)
  const { name, added, siblings } = isSharded(tx) ? readAgain(keys) : fromParts
  return statementPart(name)`
    insert into deliveries (merchant_id, tx_reference, sequence, mode, url, lane, style, created_at, begun_at,
      next_try_at, alone, lease_token, lease_until, tries)
    select d.merchant_id, d.tx_reference, added.sequence, d.mode, d.url, d.lane, d.style, d.at, d.at, d.at,
      sibling.merchant_id is null,
      case when d.reserved and sibling.merchant_id is null then ${lease?.token ?? null}::text end,
      case when d.reserved and sibling.merchant_id is null then ${lease?.until ?? null}::timestamptz end,
      case when d.reserved and sibling.merchant_id is null then 1 else 0 end
    from unnest(${merchants}::text[], ${references}::text[], ${all.map(one => one.notification.mode)}::text[],
        ${all.map(one => one.to.url)}::text[], ${all.map(one => one.to.lane)}::text[],
        ${all.map(one => one.to.style)}::text[], ${all.map(one => one.notification.created_at)}::timestamptz[],
        ${all.map(({ notification }) => lease?.has(notification) ?? false)}::boolean[])
        as d (merchant_id, tx_reference, mode, url, lane, style, at, reserved)
      ${added} on added.merchant_id = d.merchant_id and added.tx_reference = d.tx_reference
      left join (select distinct merchant_id, tx_reference from ${siblings}) as sibling
        on sibling.merchant_id = d.merchant_id and sibling.tx_reference = d.tx_reference
    returning merchant_id, tx_reference, sequence, lease_token`
}

const fromParts = { name: 'sent', added: sql`join added`, siblings: sql`siblings` }

// Citus sends the result of a part that another INSERT reads to all workers, and the statement fails if one of them is gone.
// So a sharded database reads the rows from the tables, where it sees what the parts before have written. A missing row
// is an error there, and no missing delivery: its sequence is null.
const readAgain = (keys: readonly PaymentKey[]) => ({
  name: 'sent_of_shards',
  added: sql`left join (select n.merchant_id, n.tx_reference, max(n.sequence) as sequence
          from ${unnestPaymentKeys(keys)}
            join notifications n on n.merchant_id = k.merchant_id and n.tx_reference = k.tx_reference
              and ${ofMerchants('n', keys)}
          group by n.merchant_id, n.tx_reference) as added`,
  siblings: sql`(select o.merchant_id, o.tx_reference
          from ${unnestPaymentKeys(keys)}
            join deliveries o on o.merchant_id = k.merchant_id and o.tx_reference = k.tx_reference
              and o.next_try_at is not null and ${ofMerchants('o', keys)}) as open`,
})

// Adds one notification, and returns its sequence.
export const addNotification = (tx: Tx, notification: NewNotification, to: Destination | undefined) =>
  tx.one<Pick<NotificationKey, 'sequence'>>(
    groupStatement(addNotifications(tx, [{ notification, to }]), sql`select sequence from added`),
  )
