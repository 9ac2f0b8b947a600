import type { SentNotification } from '../../actions/notifications/findNotifications.ts'
import { maskInstrument } from '../../core/mask.ts'
import type { Message } from '../../core/message/message.ts'
import { deliveryState, resultText } from '../../core/notification/delivery.ts'
import { notificationId } from '../../core/notification/notification.ts'
import { type Attempt, isUnresolved } from '../../core/payment/attempt.ts'
import type { PaymentEvent } from '../../core/payment/change.ts'
import type { Payment } from '../../core/payment/payment.ts'
import { paymentMethodName } from '../../core/provider/paymentMethod.ts'
import { reasons } from '../../core/provider/reason.ts'
import type { Refund } from '../../core/refund/refund.ts'
import { moneyText } from '../../core/timeline/history.ts'
import type { ReceivedNotification, SentRequest } from './demoShop.ts'

// One line of the panel "What happens". `late`: it came after the payment had failed.
export type ShopStep = {
  state: 'done' | 'now' | 'todo' | 'no' | 'late'
  what: string
  at?: Date | null
  until?: Date // how long the customer can still act
  good?: string // before the note, in the colour of success
  note?: string
  request?: SentRequest
  notification?: ReceivedNotification
  link?: 'checkout' | 'inbox' | { phone: string }
}

// What the gateway has stored about an order, and what the shop remembers of it.
export type OrderRecords = {
  payment: Payment
  attempts: readonly Attempt[]
  events: readonly PaymentEvent[]
  notifications: readonly SentNotification[]
  messages: readonly Message[]
  now: Date
  refunds: readonly Refund[]
  request: SentRequest | undefined
  refundRequest: SentRequest | undefined
  receivedBy(notification_id: string): ReceivedNotification | undefined
  testerPage(attempt: Attempt): string | undefined
  endsAt(attempt: Attempt): Date | undefined
}

// Before anything is bought.
export const plannedSteps: readonly ShopStep[] = [
  'Payment requested',
  'Checkout opened',
  'Provider asked',
  'Approved on the phone',
  'Paid',
  'Shop notified',
  'SMS and email sent',
].map(what => ({ state: 'todo', what }))

const mostAttempts = 3 // the newest ones

export function stepsOf(records: OrderRecords): ShopStep[] {
  const attempts = records.attempts.slice(-mostAttempts)
  return [
    requestStep(records),
    checkoutStep(records),
    ...(attempts.length === 0
      ? plannedSteps.slice(2, 4)
      : attempts.flatMap(attempt => attemptSteps(attempt, records))),
    resultStep(records),
    ...notificationSteps(records),
    messageStep(records),
    ...records.refunds.flatMap(refund => refundSteps(refund, records)),
  ]
}

// Whether nothing more is expected, so that the page need not ask again soon. The payment is read before its records, so it
// may be older than they are.
export const isOver = ({ payment, steps }: { payment: Payment; steps: readonly ShopStep[] }) =>
  payment.status !== 'awaiting_payment' &&
  steps.every(({ state }) => state !== 'now') &&
  steps.at(-1)?.state !== 'todo'

function requestStep({ payment, request }: OrderRecords): ShopStep {
  return {
    state: 'done',
    what: 'Payment requested',
    at: payment.created_at,
    note: request
      ? `Signed by the shop, answered ${request.http} in ${request.ms} ms.`
      : 'Signed by the shop.',
    request,
  }
}

function checkoutStep({ payment, attempts }: OrderRecords): ShopStep {
  const step = { what: 'Checkout opened' }
  const [first] = attempts
  if (first) {
    const latest = attempts.at(-1) as Attempt
    const instrument = maskInstrument(latest.instrument)?.replaceAll(' ', '\u00a0')
    const how = paymentMethodName(latest.payment_method) + (instrument ? `, ${instrument}` : '')
    return { ...step, state: 'done', at: first.created_at, note: `The customer chose ${how}.` }
  }
  if (payment.status !== 'awaiting_payment') return { ...step, state: 'todo', note: 'Nothing was chosen.' }
  return {
    ...step,
    state: 'now',
    until: payment.expires_at,
    note: 'The customer chooses how to pay.',
    link: 'checkout',
  }
}

function attemptSteps(attempt: Attempt, records: OrderRecords): ShopStep[] {
  const { state, created_at, acknowledged_at } = attempt
  const what = `${providerName(attempt)} asked`
  if (acknowledged_at || state === 'paid' || state === 'failed') {
    const ms = acknowledged_at && Math.max(1, acknowledged_at.getTime() - created_at.getTime())
    const note = ms ? `Accepted in ${ms} ms.` : 'No answer to the request itself; its status was asked.'
    return [
      { state: 'done', what, at: acknowledged_at ?? created_at, note },
      ...approvalSteps(attempt, records),
    ]
  }
  const note = {
    unknown: 'No clear answer, so it is asked again. Unknown is not failed.',
    not_sent: 'It could not be reached; nothing was sent. It is tried again.',
  }[state as string]
  return [
    { state: 'now', what, at: created_at, note: note ?? 'The request is on its way.' },
    { state: 'todo', what: 'Approved on the phone' },
  ]
}

// A failure that the provider took back later shows both.
function approvalSteps(attempt: Attempt, records: OrderRecords): ShopStep[] {
  const ofAttempt = records.events.filter(({ attempt_id }) => attempt_id === attempt.attempt_id)
  const failed = ofAttempt.find(({ kind }) => kind === 'attempt_failed')
  const paid = ofAttempt.find(({ kind }) => kind === 'attempt_paid')
  const refusal: ShopStep[] = failed
    ? [{ state: 'no', what: refusalTitle(attempt, failed), at: failed.at, note: 'Nothing was taken.' }]
    : []
  if (paid) {
    const seconds = Math.round((paid.at.getTime() - attempt.created_at.getTime()) / 1000)
    const what = failed ? 'Approved after all' : approvedTitle(attempt)
    const note = failed
      ? 'The provider reported a failure first. Money outranks it.'
      : `${seconds < 1 ? 'Less than a second' : `${seconds} s`} after the request.`
    return [...refusal, { state: failed ? 'late' : 'done', what, at: paid.at, note }]
  }
  return failed ? refusal : [waitingStep(attempt, records)]
}

function waitingStep(attempt: Attempt, { testerPage, endsAt }: OrderRecords): ShopStep {
  const phone = testerPage(attempt)
  const what = approvedTitle(attempt)
  if (attempt.state === 'disputed')
    return {
      state: 'no',
      what: 'Another amount was taken',
      at: attempt.updated_at,
      note: 'An operator has to look.',
    }
  const isWallet = attempt.instrument !== null
  return {
    state: 'now',
    what,
    until: endsAt(attempt),
    note: isWallet
      ? 'The test phone waits for an answer. Any PIN works.'
      : 'The customer is on the provider’s page.',
    ...(isWallet && phone && { link: { phone } }),
  }
}

const refusals: Partial<Record<keyof typeof reasons, string>> = {
  declined: 'Declined on the phone',
  insufficient_funds: 'Not enough money in the wallet',
  no_answer: 'No answer on the phone',
  withdrawn: 'Withdrawn by the customer',
}

const refusalTitle = ({ reason }: Attempt, failed: PaymentEvent) =>
  (reason && refusals[reason]) || (failed.reason ? failed.reason.replace(/\.$/, '') : 'Not approved')

const approvedTitle = ({ payment_method }: Attempt) =>
  payment_method === 'card' ? 'Approved by the bank' : 'Approved on the phone'

// "MTN MoMo" is asked by "MTN".
const providerName = ({ payment_method }: Attempt) =>
  paymentMethodName(payment_method).replace(/ (MoMo|Cash|Money)$/, '')

function resultStep({ payment, attempts }: OrderRecords): ShopStep {
  const { status, currency, charged, total, payment_reference, late, updated_at } = payment
  if (status === 'paid')
    return {
      state: late ? 'late' : 'done',
      what: late ? 'Paid, late' : 'Paid',
      at: payment.payment_time ?? updated_at,
      note: `${moneyText(currency, charged ?? total)}${payment_reference ? `, reference ${payment_reference}` : ''}.`,
    }
  if (status === 'awaiting_payment') return { state: 'todo', what: 'Paid' }
  const reason = payment.status_reason ? `${payment.status_reason.replace(/\.$/, '')}. ` : ''
  const isOpen = status === 'failed' && payment.expires_at > updated_at && !attempts.some(isUnresolved)
  return {
    state: 'no',
    what: status === 'cancelled' ? 'Cancelled' : 'Not paid',
    at: updated_at,
    note: `${reason}Nothing was taken.`,
    ...(isOpen && { link: 'checkout' }),
  }
}

const recordedWithinMs = 5000 // the try is read beside its delivery, and may be a moment older

function notificationSteps({ notifications: all, receivedBy, now }: OrderRecords): ShopStep[] {
  const notifications = all.filter(({ type = 'status', url }) => type === 'status' || url !== null)
  if (notifications.length === 0) return [{ state: 'todo', what: 'Shop notified' }]
  return notifications.map(one => {
    const change = one.type?.startsWith('refund.') ? one.type.replace('.', ' ') : one.status
    const what = notifications.length > 1 ? `Shop notified: ${change}` : 'Shop notified'
    const last = one.storedTries.at(-1)
    const state = deliveryState(one)
    const isRecorded = last || now.getTime() - (one.acknowledged_at?.getTime() ?? 0) > recordedWithinMs
    if (state === 'acknowledged')
      return {
        state: isRecorded ? 'done' : 'now',
        what,
        at: one.acknowledged_at,
        good: 'Signature verified',
        note: `, ${last?.status ?? 200}${last ? ` in ${last.ms} ms` : ''}.`,
        notification: receivedBy(notificationId(one)),
      }
    const problem = last ? `Try ${last.try}: ${resultText(last.result)}.` : 'On its way.'
    if (state === 'due')
      return { state: 'now', what, at: last?.started_at, note: `${problem} It is sent again.` }
    return { state: 'no', what, at: last?.started_at, note: state === 'none' ? 'Sent nowhere.' : problem }
  })
}

function messageStep({ payment, messages: all }: OrderRecords): ShopStep {
  const what = 'SMS and email sent'
  const messages = all.filter(({ topic }) => topic !== 'refunded')
  if (messages.length === 0)
    return { state: payment.number || payment.email ? 'todo' : 'no', what, note: noMessage(payment) }
  const newest = messages.filter(({ topic }) => topic === (messages.at(-1) as Message).topic)
  const isWaiting = newest.some(({ state }) => state === 'queued')
  const isDropped = newest.every(({ state }) => state === 'dropped')
  const names = newest
    .map(({ medium }) => (medium === 'sms' ? 'SMS' : 'email'))
    .toSorted()
    .join(' and ')
  const ended = newest.map(({ ended_at, sent_at }) => sent_at ?? ended_at).findLast(Boolean)
  const capital = names[0]?.toUpperCase() + names.slice(1)
  if (isWaiting)
    return {
      state: 'now',
      what,
      note: `${capital} wait for a minute, in case the customer tries again.`,
      link: 'inbox',
    }
  return {
    state: isDropped ? 'no' : 'done',
    what,
    at: ended,
    note: `${capital} ${isDropped ? 'were not sent.' : 'are in the inbox.'}`,
    link: 'inbox',
  }
}

const noMessage = ({ number, email }: Payment) =>
  number || email ? undefined : 'Neither a number nor an address is known: nothing is sent.'

function refundSteps(refund: Refund, { refundRequest, messages }: OrderRecords): ShopStep[] {
  const { state, amount, currency, created_at, succeeded_at, updated_at, state_reason } = refund
  const money = moneyText(currency, amount)
  const requested: ShopStep = {
    state: 'done',
    what: 'Refund requested',
    at: created_at,
    note: refundRequest
      ? `${money}, signed by the shop, answered ${refundRequest.http} in ${refundRequest.ms} ms.`
      : `${money}.`,
    request: refundRequest,
  }
  if (state === 'succeeded') {
    const isTold = messages.some(({ topic }) => topic === 'refunded')
    const note = isTold ? `${money}. The customer gets a message.` : `${money}.`
    return [
      requested,
      { state: 'done', what: 'Refunded', at: succeeded_at, note, ...(isTold && { link: 'inbox' }) },
    ]
  }
  if (state === 'failed')
    return [requested, { state: 'no', what: 'Not refunded', at: updated_at, note: state_reason }]
  if (state === 'needs_action')
    return [requested, { state: 'no', what: 'An operator has to act', at: updated_at, note: state_reason }]
  return [requested, { state: 'now', what: 'Refunded', note: underWay[state] }]
}

const underWay = {
  requested: 'The refund is stored. The provider is asked.',
  pending: 'The provider works on it.',
  unknown: 'No clear answer, so it is asked again. It is never refunded twice.',
}
