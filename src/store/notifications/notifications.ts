import type { IpnStyle } from '../../core/merchant/settings.ts'
import type { Notification, NotificationKey } from '../../core/notification/notification.ts'
import type { UntrustedUrl } from '../../core/urlTrust.ts'
import { named, sql, type Tx } from '../db.ts'
import { groupStatement, ofMerchants, type StatementPart, statementPart } from '../groupStatement.ts'
import { type PaymentKey, paymentKeysOf } from '../payments/paymentKeys.ts'

export type NewNotification = Omit<Notification, 'sequence'>
export type Destination = { url: UntrustedUrl; lane: string; style: IpnStyle }
export type NotificationToAdd = { notification: NewNotification; to: Destination | undefined }
export type Sending = { notification: NewNotification; to: Destination }

// The lease of whoever carries some of them as soon as they are committed.
export type InlineLease = { token: string; until: Date; has(key: PaymentKey): boolean }

export const sendingsOf = (all: readonly NotificationToAdd[]): Sending[] =>
  all.flatMap(({ notification, to }) => (to ? [{ notification, to }] : []))

// One notification each of many payments, and where it goes the delivery that is due at once; then no other of its
// payment is alone any more. The payments' rows are locked by the caller, so no two count at once.
export function addNotifications(all: readonly NotificationToAdd[], carriage?: InlineLease): StatementPart[] {
  if (all.length === 0) return []
  const sent = sendingsOf(all)
  const told = insertNotifications(all.map(({ notification }) => notification))
  return sent.length === 0 ? [told] : [told, leaveAlone(sent), insertDeliveries(sent, carriage)]
}

// Which of them have the lease.
export const leasedOfSent = named('leased')`
  select merchant_id, tx_reference, sequence from sent where lease_token is not null`

function insertNotifications(all: readonly NewNotification[]) {
  const { merchants, references } = paymentKeysOf(all)
  return statementPart('told')`
    insert into notifications (merchant_id, tx_reference, sequence, mode, status, type, body, created_at)
    select n.merchant_id, n.tx_reference, coalesce(last.sequence, 0) + 1, n.mode, n.status, n.type, n.body, n.created_at
    from unnest(${merchants}::text[], ${references}::text[], ${all.map(n => n.mode)}::text[],
        ${all.map(n => n.status)}::text[], ${all.map(n => n.type ?? 'status')}::text[], ${all.map(n => n.body)}::text[],
        ${all.map(n => n.created_at)}::timestamptz[])
        as n (merchant_id, tx_reference, mode, status, type, body, created_at)
      left join (select o.merchant_id, o.tx_reference, max(o.sequence) as sequence
          from unnest(${merchants}::text[], ${references}::text[]) as k (merchant_id, tx_reference)
            join notifications o on o.merchant_id = k.merchant_id and o.tx_reference = k.tx_reference
              and ${ofMerchants('o', all)}
          group by o.merchant_id, o.tx_reference) as last
        on last.merchant_id = n.merchant_id and last.tx_reference = n.tx_reference
    returning merchant_id, tx_reference, sequence`
}

// The others of the same payments that have not ended.
function leaveAlone(all: readonly Sending[]) {
  const { merchants, references } = paymentKeysOf(all.map(({ notification }) => notification))
  return statementPart('others')`
    update deliveries d set alone = false
    from unnest(${merchants}::text[], ${references}::text[]) as k (merchant_id, tx_reference)
    where d.merchant_id = k.merchant_id and d.tx_reference = k.tx_reference and d.next_try_at is not null
      and ${ofMerchants(
        'd',
        all.map(({ notification }) => notification),
      )}
    returning d.merchant_id, d.tx_reference`
}

// What is alone may have its lease from the first, as if it had been taken: nobody has to look for it.
function insertDeliveries(all: readonly Sending[], carriage: InlineLease | undefined) {
  const { merchants, references } = paymentKeysOf(all.map(({ notification }) => notification))
  return statementPart('sent')`
    insert into deliveries (merchant_id, tx_reference, sequence, mode, url, lane, style, created_at, begun_at,
      next_try_at, alone, lease_token, lease_until, tries)
    select d.merchant_id, d.tx_reference, told.sequence, d.mode, d.url, d.lane, d.style, d.at, d.at, d.at,
      apart.merchant_id is null,
      case when d.carried and apart.merchant_id is null then ${carriage?.token ?? null}::text end,
      case when d.carried and apart.merchant_id is null then ${carriage?.until ?? null}::timestamptz end,
      case when d.carried and apart.merchant_id is null then 1 else 0 end
    from unnest(${merchants}::text[], ${references}::text[], ${all.map(one => one.notification.mode)}::text[],
        ${all.map(one => one.to.url)}::text[], ${all.map(one => one.to.lane)}::text[],
        ${all.map(one => one.to.style)}::text[], ${all.map(one => one.notification.created_at)}::timestamptz[],
        ${all.map(({ notification }) => carriage?.has(notification) ?? false)}::boolean[])
        as d (merchant_id, tx_reference, mode, url, lane, style, at, carried)
      join told on told.merchant_id = d.merchant_id and told.tx_reference = d.tx_reference
      left join (select distinct merchant_id, tx_reference from others) as apart
        on apart.merchant_id = d.merchant_id and apart.tx_reference = d.tx_reference
    returning merchant_id, tx_reference, sequence, lease_token`
}

// One by itself, with the number that it got.
export const addNotification = (tx: Tx, notification: NewNotification, to: Destination | undefined) =>
  tx.one<Pick<NotificationKey, 'sequence'>>(
    groupStatement(addNotifications([{ notification, to }]), sql`select sequence from told`),
  )
