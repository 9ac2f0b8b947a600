import { laneOf } from '../../../src/core/notification/lane.ts'
import { sql, type Tx } from '../../../src/store/db.ts'
import { addNotification } from '../../../src/store/notifications/notifications.ts'
import { everyTry } from '../../../src/store/notifications/tries.ts'
import { lockPayment } from '../../../src/store/payments/paymentLife.ts'
import { storePayments } from '../../../src/store/payments/payments.ts'
import { aPayment } from '../../support/payments/rows.ts'
import type { DeliveryFixture } from './fixture.ts'

export const url = 'https://shop.example/ipn'
export const lane = laneOf(url, 'test', { ipn_url: null })

const merchantOf = ({ ids }: DeliveryFixture) => ids[0] as string

export const addPayments = (fixture: DeliveryFixture, ...references: string[]) =>
  storePayments(
    fixture.db,
    references.map(tx_reference =>
      aPayment({
        merchant_id: merchantOf(fixture),
        tx_reference,
        invoice_id: tx_reference,
        tx_token: `token ${tx_reference}`,
      }),
    ),
  )

// As a status change does: the row of the payment is locked.
export async function notifyIn(fixture: DeliveryFixture, tx: Tx, tx_reference = 'TG-1') {
  const merchant_id = merchantOf(fixture)
  await lockPayment(tx, { merchant_id, tx_reference })
  const notification = {
    merchant_id,
    tx_reference,
    mode: 'test',
    status: 'paid',
    created_at: fixture.clock(),
  } as const
  return addNotification(tx, { ...notification, body: '{}' }, { url, lane, style: 'post' })
}
export const notifyLocked = (fixture: DeliveryFixture, tx_reference = 'TG-1') =>
  fixture.db.transaction(tx => notifyIn(fixture, tx, tx_reference))

// Payments with two open deliveries of which one is marked as alone, payments with two deliveries in flight, and tries
// that are stored twice.
export const faults = (fixture: DeliveryFixture) =>
  fixture.db.rows<{ fault: string }>(sql`
    select 'not alone: ' || tx_reference as fault from deliveries where next_try_at is not null
    group by tx_reference having count(*) > 1 and bool_or(alone)
    union all select 'two at once: ' || tx_reference from deliveries where lease_until > ${fixture.clock()}
    group by tx_reference having count(*) > 1
    union all select 'stored twice: ' || tx_reference || ' ' || sequence || ' ' || try from ${everyTry} t
    group by tx_reference, sequence, try having count(*) > 1`)
