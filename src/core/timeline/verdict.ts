import { type Message, shownState } from '../message/message.ts'
import { type DeliverySummary, deliveryState, isInFlight, resultText } from '../notification/delivery.ts'
import type { Notification } from '../notification/notification.ts'
import { isUnresolved } from '../payment/attempt.ts'
import { isOpenRefund } from '../refund/refund.ts'
import type { Lang } from '../languages/languages.ts'
import { fill } from '../text.ts'
import { moneyText, type PaymentHistory, withoutControls } from './history.ts'
import type { NextStep } from './nextSteps.ts'
import { nextStepTexts } from './nextStepTexts.ts'
import { storedText } from './storedSentences.ts'
import { type VerdictTexts, verdictTexts } from './verdictTexts.ts'

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
  lang: Lang = 'en',
): Verdict {
  const texts = verdictTexts[lang]
  const open = history.tasks.filter(({ closed_at }) => closed_at === null)
  const shop = shopVerdict(latestStatus(notifications), now, lang)
  const status = statusVerdict(history, messages, now, lang)
  if (open.length > 0)
    return {
      ...shop,
      tone: 'warn',
      title: sentences(status.title, texts.operatorActs),
      reason: sentences(...open.map(({ kind }) => texts.tasks[kind]), shop.title, shop.reason),
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

function statusVerdict(
  history: PaymentHistory,
  messages: readonly ReceiptState[],
  now: Date,
  lang: Lang,
): Verdict {
  const texts = verdictTexts[lang]
  const { status, status_reason, expires_at } = history.payment
  if (status === 'paid') return paidVerdict(history, messages, texts)
  const unresolved = history.attempts.find(isUnresolved)
  const mayBePaid = unresolved && fill(texts.mayBePaid, { attempt: unresolved.number })
  if (status !== 'awaiting_payment') {
    const title = status === 'failed' ? texts.notPaid : texts.cancelled
    const reason = sentences(storedText(status_reason, lang), mayBePaid ?? texts.nothingTaken)
    return { tone: 'off', title, reason }
  }
  const timeLeft =
    expires_at > now ? fill(texts.mayPayUntil, { time: shortTime(expires_at, now, lang) }) : texts.timeIsOver
  return { tone: 'off', title: texts.notPaidYet, reason: mayBePaid ?? timeLeft }
}

function paidVerdict(
  { payment, refunds }: PaymentHistory,
  messages: readonly ReceiptState[],
  texts: VerdictTexts,
): Verdict {
  const { reversed_amount, refunded_amount, currency, late } = payment
  const open = refunds.filter(isOpenRefund)
  const underWay = open.map(refund =>
    fill(texts.refundUnderWay, { money: moneyText(currency, refund.amount) }),
  )
  const returned = (reversed_amount ?? 0n) + (refunded_amount ?? 0n)
  if (returned > 0n)
    return {
      tone: 'off',
      title: fill(texts.paidAndRefunded, { money: moneyText(currency, returned) }),
      reason: sentences(...underWay),
    }
  if (open.length > 0) return { tone: 'off', title: texts.paid, reason: sentences(...underWay) }
  const reason = sentences(texts.moneySafe, receiptText(messages, texts))
  return { tone: 'ok', title: late ? texts.paidLate : texts.paid, reason }
}

function receiptText(messages: readonly ReceiptState[], { receipt }: VerdictTexts): string {
  const states = messages.filter(({ topic }) => topic === 'paid').map(shownState)
  if (states.length === 0) return ''
  if (states.some(state => state === 'sent' || state === 'delivered')) return receipt.sent
  if (states.includes('kept')) return receipt.kept
  return states.includes('dropped') && !states.includes('queued') && !states.includes('going')
    ? receipt.dropped
    : receipt.going
}

const noShop: Verdict = { tone: 'ok', title: '', reason: '' }

function shopVerdict(latest: NotificationState | undefined, now: Date, lang: Lang): Verdict {
  if (!latest) return noShop
  const { shop } = verdictTexts[lang]
  const { sequence, tries, next_try_at, exhausted_at, acknowledged_at } = latest
  const state = deliveryState(latest)
  const timed = (template: string, at: Date | null) =>
    at ? fill(template, { time: shortTime(at, now, lang) }) : ''
  if (state === 'none') return { tone: 'off', title: shop.notNotified, reason: shop.noAddress }
  if (state === 'acknowledged')
    return { tone: 'ok', title: shop.acknowledged, reason: timed(shop.acknowledgedAt, acknowledged_at) }
  if (isInFlight(latest, now))
    return { tone: 'off', title: shop.beingNotified, reason: fill(shop.tryGoing, { number: tries ?? 0 }) }
  const next = timed(shop.next, next_try_at)
  const tried = fill(tries === 1 ? shop.oneTry : shop.tries, { count: tries ?? 0 })
  if (state === 'exhausted')
    return {
      tone: 'bad',
      title: shop.never,
      reason: `${facts(failureText(latest, lang), tried, timed(shop.givenUp, exhausted_at))}.`,
      resend: sequence,
    }
  if (tries === 0 && !latest.parked)
    return { tone: 'off', title: shop.notifiedNext, reason: `${facts(shop.noTry, next)}.` }
  return {
    tone: 'warn',
    title: shop.notAcknowledged,
    reason: `${facts(failureText(latest, lang), tried, latest.parked && shop.parked, next)}.`,
    resend: sequence,
  }
}

// The next try, for the list of what happens next.
export function deliverySteps(
  notifications: readonly NotificationState[],
  now: Date,
  lang: Lang = 'en',
): NextStep[] {
  const latest = latestStatus(notifications)
  if (!latest?.next_try_at || isInFlight(latest, now)) return []
  const { next_try_at, tries } = latest
  const at = next_try_at > now ? next_try_at : now
  return [{ at, words: fill(nextStepTexts[lang].notified, { number: (tries ?? 0) + 1 }) }]
}

const maxCause = 160

// The text of the last try is more exact than its result: "the connection was refused", not "no connection".
function failureText({ lastTry, last_result }: NotificationState, lang: Lang): string {
  const text = storedText(withoutControls(lastTry?.words ?? ''), lang).slice(0, maxCause)
  const cause = text || (last_result ? resultText(last_result, lang) : '')
  const status = lastTry?.status ? ` (HTTP ${lastTry.status})` : ''
  return cause && `${cause.slice(0, 1).toUpperCase()}${cause.slice(1)}${status}`
}

const facts = (...parts: readonly (string | false | null)[]) => parts.filter(Boolean).join(', ')
const sentences = (...parts: readonly string[]) => parts.filter(Boolean).join(' ')

// A time for a sentence. The day is left out if it is today.
export function shortTime(at: Date, now: Date, lang: Lang = 'en'): string {
  const iso = at.toISOString()
  const time = `${iso.slice(11, 16)} UTC`
  return iso.slice(0, 10) === now.toISOString().slice(0, 10)
    ? time
    : `${at.getUTCDate()} ${verdictTexts[lang].months[at.getUTCMonth()]} ${time}`
}
