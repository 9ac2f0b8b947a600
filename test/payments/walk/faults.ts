import { type Attempt, isUnresolved } from '../../../src/core/payment/attempt.ts'
import type {
  DisputeRecord,
  PaymentEvent,
  ReversalRecord,
  Task,
  TaskKind,
} from '../../../src/core/payment/change.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import {
  arrows,
  begin,
  cancel,
  expire,
  giveUp,
  mayBegin,
  mayType,
  type Model,
  newModel,
  reopen,
  type Status,
  applyReport,
  type,
} from './model.ts'
import { type Entry, lostOf, refundedOf } from './provider.ts'

export type PaymentRecord = {
  payment: Payment
  attempts: Attempt[]
  events: PaymentEvent[]
  tasks: Task[]
  reversals: readonly ReversalRecord[]
  disputes: readonly DisputeRecord[]
}
export type ProviderOrders = ReadonlyMap<string, Entry>

const never = () => false

// Checks everything that must hold for a payment at every moment, and returns the violations as sentences. `comes` says
// whether the provider may still charge an order.
export function faultsOf(
  record: PaymentRecord,
  orders: ProviderOrders,
  comes: (entry: Entry) => boolean = never,
): string[] {
  const { payment, attempts, events } = record
  const faults: string[] = []
  const check = (holds: boolean, words: string) => void (holds || faults.push(words))
  const path = events.filter(({ kind }) => kind === 'status_changed')
  let status: Status = 'awaiting_payment'
  for (const { from_status, to_status } of path) {
    check(from_status === status, `an event says from ${from_status} where it was ${status}`)
    check(
      arrows.some(arrow => arrow === `${status} > ${to_status}`),
      `${status} became ${to_status}`,
    )
    status = to_status as Status
  }
  check(payment.status === status, `the status is ${payment.status}, the events end with ${status}`)
  check(path.filter(({ to_status }) => to_status === 'paid').length <= 1, 'paid twice')
  check(
    events.every(({ sequence }, at) => sequence === at + 1),
    'the events have a gap',
  )
  check(attempts.filter(isUnresolved).length <= 1, 'two unresolved attempts')
  check(payment.status !== 'failed' || !attempts.some(isUnresolved), 'failed while something can be paid')
  check(
    attempts.every(({ number }, at) => number === at + 1),
    'the attempts have a gap',
  )
  for (const attempt of attempts) faults.push(...attemptFaults(attempt, orders.get(attempt.attempt_id)))
  for (const entry of orders.values()) {
    check(isExplained(record, entry), `the charge of ${entry.reference} is not explained`)
    check(
      !comes(entry) || isAskedAbout(record, entry),
      `${entry.reference} can be charged, and nobody will ask`,
    )
  }
  faults.push(...moneyBackFaults(record, orders))
  const model = replay(events, payment, faults)
  check(payment.status === model.status, `the status is ${payment.status}, the table says ${model.status}`)
  check(payment.late === model.late, `late is ${payment.late}`)
  check((payment.cancel_requested_at !== null) === model.cancelRequested, 'the request to cancel differs')
  for (const [id, one] of model.tries)
    check(
      attempts.some(
        a =>
          a.attempt_id === id &&
          isUnresolved(a) === one.open &&
          (a.gave_up_at !== null) === one.gaveUp &&
          a.submits === one.typed &&
          (a.state === 'needs_input') === (one.open && one.asks && !one.disputed),
      ),
      `${id} differs`,
    )
  check(model.tries.size === attempts.length, 'attempts and events differ')
  return faults
}

function attemptFaults(attempt: Attempt, entry: Entry | undefined): string[] {
  const {
    attempt_id,
    state,
    reason,
    ended_at,
    given,
    next_poll_at,
    created_at,
    gave_up_at,
    gave_up_for,
    step,
  } = attempt
  const faults: string[] = []
  const check = (holds: boolean, words: string) => void (holds || faults.push(`${attempt_id} ${words}`))
  check(isUnresolved(attempt) === (ended_at === null), 'has ended and has not')
  check(!isUnresolved(attempt) || next_poll_at !== null, 'is unresolved and nobody will ask')
  check(state !== 'paid' || entry?.charges === 1, 'is paid without a charge')
  check(state !== 'paid' || next_poll_at === null || attempt.check_reversals, 'is paid and still asked about')
  check(isUnresolved(attempt) || Object.keys(given).length === 0, 'still holds what the customer gave')
  check((entry?.charges ?? 0) <= 1, 'was charged twice')
  check((gave_up_at === null) === (gave_up_for === null), 'was given up and was not')
  check(state !== 'needs_input' || step !== null, 'asks for nothing')
  check((state !== 'pending' && !ended_at) || step === null, 'asks for what nobody can type')
  check(reason !== 'withdrawn' || gave_up_at !== null, 'was withdrawn, and nobody had asked for it')
  if (state === 'failed' && reason === 'never_arrived')
    check((ended_at as Date).getTime() - created_at.getTime() >= 300_000 && !entry, 'was given up too early')
  else if (state === 'failed' && reason === 'not_sent') check(entry === undefined, 'was sent all the same')
  else if (state === 'failed' && reason === 'reversed')
    check(entry !== undefined && refundedOf(entry) + lostOf(entry) >= entry.amount, 'was not reversed')
  else if (state === 'failed') check(entry?.wasRefused === true, 'failed without a no')
  return faults
}

const hasTask = ({ tasks }: PaymentRecord, id: string, kind: TaskKind) =>
  tasks.some(task => task.attempt_id === id && task.kind === kind)

const paidBy = ({ events }: PaymentRecord) => events.find(({ to_status }) => to_status === 'paid')?.attempt_id

// A charge is explained if it paid the payment, raised a task, or will be polled.
function isExplained(record: PaymentRecord, { reference, truth, callsBack }: Entry): boolean {
  const attempt = record.attempts.find(({ attempt_id }) => attempt_id === reference)
  if (!attempt) return false // an unknown reference
  return truth !== 'charged' || callsBack || isFinished(record, reference) || attempt.next_poll_at !== null
}

const isAskedAbout = ({ attempts }: PaymentRecord, { reference }: Entry) =>
  attempts.some(({ attempt_id, state, next_poll_at }) =>
    attempt_id === reference ? state === 'paid' || next_poll_at !== null : false,
  )

// Every refund and dispute is recorded once, with the provider's amount, and has one event. Only those of the attempt
// that paid mark the payment.
function moneyBackFaults(
  { payment, events, reversals, disputes }: PaymentRecord,
  orders: ProviderOrders,
): string[] {
  const faults: string[] = []
  const check = (holds: boolean, words: string) => void (holds || faults.push(words))
  const names = reversals.map(({ attempt_id, reversal_id }) => `${attempt_id} ${reversal_id}`)
  check(new Set(names).size === names.length, 'a refund is recorded twice')
  for (const { attempt_id, reversal_id, amount } of reversals)
    check(
      orders.get(attempt_id)?.refunds.some(one => one.id === reversal_id && one.amount === amount) === true,
      `${attempt_id} has a refund that the provider has not`,
    )
  const count = (kind: string) => events.filter(one => one.kind === kind).length
  const resolved = disputes.filter(({ state }) => state !== 'open').length
  check(count('reversed') === reversals.length, 'refunds and their events differ')
  check(count('dispute_won') + count('dispute_lost') === resolved, 'disputes and their events differ')
  check(count('dispute_opened') <= disputes.length, 'a dispute is opened twice')
  const ofPayer = (one: { attempt_id: string }) => one.attempt_id === payment.paid_attempt_id
  const lost = disputes.filter(one => ofPayer(one) && one.state === 'lost')
  const sum = [...reversals.filter(ofPayer), ...lost].reduce((total, { amount }) => total + amount, 0n)
  const most = payment.charged ?? payment.total
  check((payment.reversed_amount ?? 0n) === (sum < most ? sum : most), 'the reversed amount differs')
  check((payment.reversed_at === null) === (sum === 0n), 'the mark of a reversal differs')
  return faults
}

const isFinished = (record: PaymentRecord, id: string) =>
  (record.payment.status === 'paid' && paidBy(record) === id) ||
  hasTask(record, id, 'refund') ||
  hasTask(record, id, 'amount_mismatch') ||
  hasTask(record, id, 'reversed')

// Every task about money refers to a real charge.
export const faultsOfTasks = ({ tasks }: PaymentRecord, orders: ProviderOrders): string[] =>
  tasks
    .filter(({ kind }) => aboutCharges.has(kind))
    .filter(({ attempt_id }) => orders.get(attempt_id)?.charges !== 1)
    .map(({ attempt_id, kind }) => `${attempt_id} has a task of ${kind}, and no charge`)

const aboutCharges: ReadonlySet<TaskKind> = new Set([
  'refund',
  'amount_mismatch',
  'reversed',
  'dispute_opened',
  'dispute_lost',
])

// At rest, no charge is left to be polled, and the status follows from the provider's orders alone. A customer who gave up
// the last attempt may continue until the payment expires.
export function faultsAtRest(record: PaymentRecord, orders: ProviderOrders, now: Date): string[] {
  const { payment, attempts } = record
  const charged = [...orders.values()].filter(({ truth }) => truth === 'charged')
  // A charge that was refunded or lost before it was reported need not pay.
  const isPaid = (id: string) => attempts.some(one => one.attempt_id === id && one.state === 'paid')
  const right = charged
    .filter(({ amount }) => amount === payment.total)
    .filter(entry => isPaid(entry.reference) || refundedOf(entry) + lostOf(entry) === 0n)
  const faults = charged
    .filter(({ reference }) => !isFinished(record, reference))
    .map(({ reference }) => `the charge of ${reference} was never found`)
  if ((payment.status === 'paid') !== right.length > 0)
    faults.push(`${payment.status}, ${right.length} charges`)
  const refunds = right.filter(({ reference }) => hasTask(record, reference, 'refund')).length
  if (refunds !== Math.max(0, right.length - 1)) faults.push(`${refunds} refunds of ${right.length} charges`)
  if (attempts.some(attempt => isUnresolved(attempt) && attempt.state !== 'disputed'))
    faults.push('unresolved')
  const mayGoOn = attempts.at(-1)?.gave_up_at && payment.expires_at > now
  if (payment.status === 'awaiting_payment' && !attempts.some(isUnresolved) && !mayGoOn)
    faults.push('awaiting for ever')
  return faults
}

const isReopening = (to_status: Status | null, cause: string) =>
  to_status === 'awaiting_payment' && cause === 'merchant'

// Replays the events in the model: each must be possible when it happens.
function replay(events: PaymentEvent[], { expires_at }: Payment, faults: string[]): Model {
  const model = newModel()
  const isReopened = events.some(({ to_status, cause }) => isReopening(to_status, cause))
  for (const { kind, attempt_id, cause, to_status, at } of events) {
    const id = attempt_id ?? ''
    if (kind === 'attempt_started') {
      if (!mayBegin(model)) faults.push(`${id} began while another was open, or after the end`)
      begin(model, id)
    }
    if (kind === 'attempt_paid') applyReport(model, id, 'yes')
    if (kind === 'attempt_failed') applyReport(model, id, 'no')
    if (kind === 'cancel_wished') cancel(model)
    if (kind === 'attempt_given_up') {
      if (model.tries.get(id)?.gaveUp) faults.push(`${id} was given up twice`)
      giveUp(model, id)
      if (!model.tries.get(id)?.gaveUp) faults.push(`${id} was given up where it cannot be`)
    }
    if (kind === 'attempt_pending') applyReport(model, id, 'pending')
    if (kind === 'attempt_needs_input') applyReport(model, id, 'asks')
    if (kind === 'attempt_disputed') applyReport(model, id, 'other_amount')
    if (kind === 'attempt_submitted') {
      if (!mayType(model, id, model.tries.get(id)?.typed ?? 0, at.getTime()))
        faults.push(`${id} was carried on where nothing was asked, or too soon`)
      type(model, id, at.getTime())
    }
    if (kind === 'overpaid' && !model.refunds.has(id)) faults.push(`${id} is no overpayment`)
    if (kind !== 'status_changed') continue
    if (to_status === 'cancelled' && cause === 'customer') cancel(model)
    if (to_status === 'failed' && cause === 'clock' && (at >= expires_at || isReopened)) expire(model)
    if (isReopening(to_status, cause)) reopen(model)
    if (model.status !== to_status)
      faults.push(`${to_status} by ${cause}, where the table says ${model.status}`)
  }
  return model
}
