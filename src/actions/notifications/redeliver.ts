import { type IpnStyle, readMerchantSettings, type MerchantSettings } from '../../core/merchant/settings.ts'
import { laneOf } from '../../core/notification/laneName.ts'
import { ipnUrlOf, isSent, type NotificationKey } from '../../core/notification/notification.ts'
import type { Db, Tx } from '../../store/db.ts'
import { findMerchant } from '../../store/merchants/merchants.ts'
import {
  beginAgain,
  findRedeliverable,
  lockBegun,
  type Place,
  type Range,
  type Redeliverable,
  type Redelivery,
  redeliverablesAfter,
} from '../../store/notifications/redeliveries.ts'

const atOnce = 500 // in one statement, far within its time

// How many are due now, how many are being sent at this moment and were left alone, how many have nowhere to go, and how
// many of which the merchant's style leaves out.
export type Redelivered = { redelivered: number; being_sent: number; no_address: number; left_out: number }

const none: Redelivered = { redelivered: 0, being_sent: 0, no_address: 0, left_out: 0 }

// The same id and the same bytes, from the start of the schedule. Undefined when there is no such notification.
export async function redeliver(db: Db, key: NotificationKey, now: Date): Promise<Redelivered | undefined> {
  const found = await findRedeliverable(db, key)
  if (!found) return undefined
  const settings = await settingsOf(db, key.merchant_id)
  return db.transaction(tx => again(tx, [found], settings, now))
}

// The same, as somebody asks for it who saw when the delivery was begun, or that there was none. One that was begun since
// is left alone: a button that is pressed twice sends once.
export async function redeliverAsSeen(
  db: Db,
  key: NotificationKey,
  seen: Date | null,
  now: Date,
): Promise<Redelivered | 'already' | undefined> {
  const found = await findRedeliverable(db, key)
  if (!found) return undefined
  const settings = await settingsOf(db, key.merchant_id)
  return db.transaction(async tx => {
    const begun_at = await lockBegun(tx, key)
    if (begun_at?.getTime() === now.getTime()) return { ...none, redelivered: 1 } // a lost commit, run again
    if (begun_at?.getTime() !== seen?.getTime()) return 'already'
    return again(tx, [found], settings, now)
  })
}

// The same for all of a time, piece by piece.
export async function redeliverAll(db: Db, range: Range, now: Date): Promise<Redelivered> {
  const settings = await settingsOf(db, range.merchant_id)
  let after: Place | undefined = { created_at: range.from, tx_reference: '', sequence: 0 }
  let sum = none
  while (after) {
    const found = await redeliverablesAfter(db, range, after, atOnce)
    sum = add(sum, await db.transaction(tx => again(tx, found, settings, now)))
    after = found.length === atOnce ? found.at(-1) : undefined
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

async function again(
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

// It goes where it would go today: an address that was mistyped may be why it never arrived. Where nothing is set any
// more it goes where it went.
function planFor(one: Redeliverable, settings: MerchantSettings): Redelivery | 'no_address' | 'left_out' {
  const { merchant_id, tx_reference, sequence, mode, created_at } = one
  if (one.url === null && !isSent(one.status, settings.ipn_style)) return 'left_out'
  const url = ipnUrlOf({ ipn_url: one.payment_url }, settings) ?? one.url
  if (url === null) return 'no_address'
  const style = one.style ?? styleFor(one.body ?? '', settings.ipn_style)
  const lane = laneOf(url, mode, settings)
  return { merchant_id, tx_reference, sequence, mode, created_at, url, lane, style }
}

// The bytes are what they are: only a body that was written for `basic` has an amount that such clients read.
function styleFor(body: string, style: IpnStyle): IpnStyle {
  if (style !== 'basic') return style
  const { amount } = JSON.parse(body) as { amount: unknown }
  return typeof amount === 'string' ? 'basic' : 'post'
}
