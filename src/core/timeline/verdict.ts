import { type Message, shownState } from '../message/message.ts'
import { type DeliverySummary, deliveryState, isInFlight, resultText } from '../notification/delivery.ts'
import type { Notification } from '../notification/notification.ts'
import { isUnresolved } from '../payment/attempt.ts'
import { taskKinds } from '../payment/change.ts'
import { isOpenRefund } from '../refund/refund.ts'
import type { NextStep } from './nextSteps.ts'
import { moneyText, type PaymentHistory, withoutControls } from './history.ts'

// The first thing that an operator reads about a payment: whether it is paid and whether the shop knows, then why, then
// what can be done. `resend` is the sequence of the notification that can be sent again.
export type Verdict = { tone: VerdictTone; title: string; reason: string; resend?: number }
export type VerdictTone = 'ok' | 'off' | 'warn' | 'bad' // off: nothing is wrong and nothing has ended

// A notification, its delivery and its last stored try.
export type NotificationState = Pick<Notification, 'sequence' | 'type'> &
  DeliverySummary & { lastTry?: { status: number | null; words: string } }

// `storedTries` are in the order of their time.
export const notificationStates = (
  notifications: readonly (Omit<NotificationState, 'lastTry'> & {
    storedTries: NonNullable<NotificationState['lastTry']>[]
  })[],
): NotificationState[] => notifications.map(one => ({ ...one, lastTry: one.storedTries.at(-1) }))

type ReceiptState = Pick<Message, 'topic' | 'state' | 'messenger' | 'sent_at'>

export function verdict(
  history: PaymentHistory,
  notifications: readonly NotificationState[],
  messages: readonly ReceiptState[],
  now: Date,
): Verdict {
  const open = history.tasks.filter(({ closed_at }) => closed_at === null)
  const shop = shopVerdict(latestStatus(notifications), now)
  const status = statusVerdict(history, messages, now)
  if (open.length > 0)
    return {
      ...shop,
      tone: 'warn',
      title: `${status.title} An operator has to act.`,
      reason: sentences(...open.map(({ kind }) => taskKinds[kind]), shop.title, shop.reason),
    }
  return {
    ...shop,
    tone: shop.tone === 'ok' ? status.tone : shop.tone,
    title: sentences(status.title, shop.title),
    reason: sentences(shop.reason, status.reason),
  }
}

// An earlier status that the shop has not acknowledged does not matter, once it has acknowledged the latest one. Refunds
// and disputes are in the feed only.
const latestStatus = (notifications: readonly NotificationState[]) =>
  notifications.findLast(({ type }) => type === undefined || type === 'status')

function statusVerdict(history: PaymentHistory, messages: readonly ReceiptState[], now: Date): Verdict {
  const { status, status_reason, expires_at } = history.payment
  if (status === 'paid') return paidVerdict(history, messages)
  const unresolved = history.attempts.find(isUnresolved)
  const mayBePaid =
    unresolved &&
    `Attempt ${unresolved.number} has no result yet: if it is approved, the payment becomes paid.`
  if (status !== 'awaiting_payment') {
    const title = status === 'failed' ? 'Not paid.' : 'Cancelled.'
    return { tone: 'off', title, reason: sentences(status_reason, mayBePaid ?? 'Nothing was taken.') }
  }
  const timeLeft =
    expires_at > now
      ? `The customer may pay until ${shortTime(expires_at, now)}.`
      : 'The time to pay is over.'
  return { tone: 'off', title: 'Not paid yet.', reason: mayBePaid ?? timeLeft }
}

function paidVerdict({ payment, refunds }: PaymentHistory, messages: readonly ReceiptState[]): Verdict {
  const { reversed_amount, refunded_amount, currency, late } = payment
  const open = refunds.filter(isOpenRefund)
  const underWay = open.map(refund => `A refund of ${moneyText(currency, refund.amount)} is under way.`)
  const returned = (reversed_amount ?? 0n) + (refunded_amount ?? 0n)
  if (returned > 0n)
    return {
      tone: 'off',
      title: `Paid, and ${moneyText(currency, returned)} refunded.`,
      reason: sentences(...underWay),
    }
  if (open.length > 0) return { tone: 'off', title: 'Paid.', reason: sentences(...underWay) }
  const reason = sentences('The money is safe.', receiptText(messages))
  return { tone: 'ok', title: late ? 'Paid, late.' : 'Paid.', reason }
}

function receiptText(messages: readonly ReceiptState[]): string {
  const states = messages.filter(({ topic }) => topic === 'paid').map(shownState)
  if (states.length === 0) return ''
  if (states.some(state => state === 'sent' || state === 'delivered')) return 'The customer has a receipt.'
  if (states.includes('kept')) return 'The receipt is in the inbox.'
  return states.includes('dropped') && !states.includes('queued') && !states.includes('going')
    ? 'The receipt could not be sent.'
    : 'The receipt is on its way.'
}

const noShop: Verdict = { tone: 'ok', title: '', reason: '' }

function shopVerdict(latest: NotificationState | undefined, now: Date): Verdict {
  if (!latest) return noShop
  const { sequence, tries, next_try_at, exhausted_at, acknowledged_at } = latest
  const state = deliveryState(latest)
  if (state === 'none')
    return {
      tone: 'off',
      title: 'The shop was not notified.',
      reason: 'It has no address for this notification (ipn_url), so it has to ask for the status.',
    }
  if (state === 'acknowledged')
    return {
      tone: 'ok',
      title: 'The shop has acknowledged.',
      reason: acknowledged_at ? `Acknowledged ${shortTime(acknowledged_at, now)}.` : '',
    }
  if (isInFlight(latest, now))
    return { tone: 'off', title: 'The shop is being notified.', reason: `Try ${tries} is on its way.` }
  const givenUp = exhausted_at && `given up ${shortTime(exhausted_at, now)}`
  const next = next_try_at ? `next ${shortTime(next_try_at, now)}` : ''
  if (state === 'exhausted')
    return {
      tone: 'bad',
      title: 'The shop never acknowledged.',
      reason: `${facts(failureText(latest), triesText(tries), givenUp)}.`,
      resend: sequence,
    }
  if (tries === 0 && !latest.parked)
    return { tone: 'off', title: 'The shop is notified next.', reason: `${facts('No try yet', next)}.` }
  return {
    tone: 'warn',
    title: 'The shop has not acknowledged.',
    reason: `${facts(failureText(latest), triesText(tries), latest.parked && 'parked', next)}.`,
    resend: sequence,
  }
}

// The next try, for the list of what happens next.
export function deliverySteps(notifications: readonly NotificationState[], now: Date): NextStep[] {
  const latest = latestStatus(notifications)
  if (!latest?.next_try_at || isInFlight(latest, now)) return []
  const { next_try_at, tries } = latest
  const at = next_try_at > now ? next_try_at : now
  return [{ at, words: `The shop is notified, try ${(tries ?? 0) + 1}` }]
}

const maxCause = 160

// The text of the last try is more exact than its result: "the connection was refused", not "no connection".
function failureText({ lastTry, last_result }: NotificationState): string {
  const text = withoutControls(lastTry?.words ?? '').slice(0, maxCause)
  const cause = text || (last_result ? resultText(last_result) : '')
  const status = lastTry?.status ? ` (HTTP ${lastTry.status})` : ''
  return cause && `${cause.slice(0, 1).toUpperCase()}${cause.slice(1)}${status}`
}

const triesText = (tries: number | null) => (tries === 1 ? '1 try' : `${tries ?? 0} tries`)

const facts = (...parts: readonly (string | false | null)[]) => parts.filter(Boolean).join(', ')
const sentences = (...parts: readonly string[]) => parts.filter(Boolean).join(' ')

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

// A time for a sentence. The day is left out if it is today.
export function shortTime(at: Date, now: Date): string {
  const iso = at.toISOString()
  const time = `${iso.slice(11, 16)} UTC`
  return iso.slice(0, 10) === now.toISOString().slice(0, 10)
    ? time
    : `${at.getUTCDate()} ${months[at.getUTCMonth()]} ${time}`
}
