import { type IpnStyle, type MerchantSettings, readMerchantSettings } from '../../core/merchant/settings.ts'
import { laneOf, takenLane } from '../../core/notification/lane.ts'
import { ipnUrlOf, isSent, type NotificationKey } from '../../core/notification/notification.ts'
import { isTaken } from '../../core/payment/takenPayment.ts'
import type { Db, Tx } from '../../store/db.ts'
import { findMerchant } from '../../store/merchants/merchants.ts'
import {
  beginAgain,
  findRedeliverable,
  lockBegunAt,
  type Redeliverable,
  redeliverablesAfter,
  type Redelivery,
  type RedeliveryCursor,
  type RedeliveryRange,
} from '../../store/notifications/redeliveries.ts'

const pageSize = 500 // one statement, well within the statement timeout

// `being_sent`: in flight, not changed. `left_out`: the settings of the merchant do not send it.
export type Redelivered = { redelivered: number; being_sent: number; no_address: number; left_out: number }

const none: Redelivered = { redelivered: 0, being_sent: 0, no_address: 0, left_out: 0 }

// Sends a notification again, with the same id and bytes, from the start of the schedule. Returns undefined if there is no
// such notification.
export async function redeliver(db: Db, key: NotificationKey, now: Date): Promise<Redelivered | undefined> {
  const found = await findRedeliverable(db, key)
  if (!found) return undefined
  const settings = await settingsOf(db, key.merchant_id)
  return db.transaction(tx => beginRedeliveries(tx, [found], settings, now))
}

// The same for an operator on a page. `seen` is the begin of the delivery on that page, null if there was none. A delivery
// that has begun since is not changed, so that a button that is pressed twice sends once.
export async function redeliverAsSeen(
  db: Db,
  key: NotificationKey,
  seen: Date | null,
  now: Date,
): Promise<Redelivered | 'already' | undefined> {
  const found = await findRedeliverable(db, key)
  if (!found) return undefined
  const settings = await settingsOf(db, key.merchant_id)
  let runs = 0 // after a lost commit the work runs again, and finds its own row; another form may have the same millisecond
  return db.transaction(async tx => {
    const isRerun = ++runs > 1
    const begun_at = await lockBegunAt(tx, key)
    if (isRerun && begun_at?.getTime() === now.getTime()) return { ...none, redelivered: 1 }
    if (begun_at?.getTime() !== seen?.getTime()) return 'already'
    return beginRedeliveries(tx, [found], settings, now)
  })
}

// The same for all notifications of a time range, page by page.
export async function redeliverAll(db: Db, range: RedeliveryRange, now: Date): Promise<Redelivered> {
  const settings = await settingsOf(db, range.merchant_id)
  let after: RedeliveryCursor | undefined = { created_at: range.from, tx_reference: '', sequence: 0 }
  let sum = none
  while (after) {
    const found = await redeliverablesAfter(db, range, after, pageSize)
    sum = add(sum, await db.transaction(tx => beginRedeliveries(tx, found, settings, now)))
    after = found.length === pageSize ? found.at(-1) : undefined
  }
  return sum
}

const add = (a: Redelivered, b: Redelivered): Redelivered => ({
  redelivered: a.redelivered + b.redelivered,
  being_sent: a.being_sent + b.being_sent,
  no_address: a.no_address + b.no_address,
  left_out: a.left_out + b.left_out,
})

async function settingsOf(db: Db, merchant_id: string): Promise<MerchantSettings> {
  const merchant = await findMerchant(db, merchant_id)
  if (!merchant) throw new Error('a notification without its merchant')
  return readMerchantSettings(merchant.settings)
}

async function beginRedeliveries(
  tx: Tx,
  found: readonly Redeliverable[],
  settings: MerchantSettings,
  now: Date,
): Promise<Redelivered> {
  const plans = found.map(one => planFor(one, settings))
  const sendable = plans.filter(plan => typeof plan === 'object')
  const begun = await beginAgain(tx, sendable, now)
  return {
    redelivered: begun.length,
    being_sent: sendable.length - begun.length,
    no_address: plans.filter(plan => plan === 'no_address').length,
    left_out: plans.filter(plan => plan === 'left_out').length,
  }
}

// The current address is used, because the former one may have been wrong. If none is set now, the former one is used.
function planFor(one: Redeliverable, settings: MerchantSettings): Redelivery | 'no_address' | 'left_out' {
  const { merchant_id, tx_reference, sequence, mode, created_at } = one
  const taken = isTaken({ invoice_id: one.invoice_id ?? '' })
  const leavesOut = !isSent(one.status, settings.ipn_style) || (taken && !settings.ipn_taken_payments)
  if (one.url === null && leavesOut) return 'left_out'
  const url = ipnUrlOf({ ipn_url: one.payment_url }, settings) ?? one.url
  if (url === null) return 'no_address'
  const style = one.style ?? styleFor(one.body ?? '', settings.ipn_style)
  const lane = taken ? takenLane(url, mode) : laneOf(url, mode, settings)
  return { merchant_id, tx_reference, sequence, mode, created_at, url, lane, style }
}

// The body does not change, and only a body that was written for `basic` has the amount as text.
function styleFor(body: string, style: IpnStyle): IpnStyle {
  if (style !== 'basic') return style
  const { amount } = JSON.parse(body) as { amount: unknown }
  return typeof amount === 'string' ? 'basic' : 'post'
}
