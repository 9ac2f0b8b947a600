import { laneOf } from '../../../src/core/notification/lane.ts'
import { sql, type Tx } from '../../../src/store/db.ts'
import { addNotification } from '../../../src/store/notifications/notifications.ts'
import { everyTry } from '../../../src/store/notifications/tries.ts'
import { lockPayment } from '../../../src/store/payments/paymentLife.ts'
import { storePayments } from '../../../src/store/payments/payments.ts'
import { aPayment, noon } from '../../support/payments/rows.ts'
import type { Post } from './post.ts'

export const url = 'https://shop.example/ipn'
export const lane = laneOf(url, 'test', { ipn_url: null })

const merchantOf = ({ ids }: Post) => ids[0] as string

// Nothing has happened yet.
export async function clear({ db, setNow, troubles }: Post) {
  await db.rows(sql`truncate deliveries, notifications, tries`)
  await db.rows(sql`delete from payments`)
  setNow(noon)
  troubles.length = 0
}

export const addPayments = (post: Post, ...references: string[]) =>
  storePayments(
    post.db,
    references.map(tx_reference =>
      aPayment({
        merchant_id: merchantOf(post),
        tx_reference,
        invoice_id: tx_reference,
        tx_token: `token ${tx_reference}`,
      }),
    ),
  )

// As a change of a payment does it: the row of the payment is held.
export async function tellIn(post: Post, tx: Tx, tx_reference = 'TG-1') {
  const merchant_id = merchantOf(post)
  await lockPayment(tx, { merchant_id, tx_reference })
  const told = { merchant_id, tx_reference, mode: 'test', status: 'paid', created_at: post.clock() } as const
  return addNotification(tx, { ...told, body: '{}' }, { url, lane, style: 'post' })
}
export const tellLocked = (post: Post, tx_reference = 'TG-1') =>
  post.db.transaction(tx => tellIn(post, tx, tx_reference))

// Payments of which two deliveries have not ended and one of them believes that it is alone; those with two on their
// way; and tries that are told twice.
export const faults = (post: Post) =>
  post.db.rows<{ fault: string }>(sql`
    select 'not alone: ' || tx_reference as fault from deliveries where next_try_at is not null
    group by tx_reference having count(*) > 1 and bool_or(alone)
    union all select 'two at once: ' || tx_reference from deliveries where lease_until > ${post.clock()}
    group by tx_reference having count(*) > 1
    union all select 'told twice: ' || tx_reference || ' ' || sequence || ' ' || try from ${everyTry} t
    group by tx_reference, sequence, try having count(*) > 1`)
