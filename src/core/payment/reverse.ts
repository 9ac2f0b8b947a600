import type { Dispute, Reply } from '../provider/reply.ts'
import { figureIn } from '../money.ts'
import type { Attempt } from './attempt.ts'
import {
  type Change,
  type DisputeRecord,
  event,
  type MoneyBack,
  type MoneyBackChange,
  type MoneyBackNotice,
  type NewEvent,
  type ReversalRecord,
  type Task,
  task,
} from './change.ts'
import type { Payment } from './payment.ts'

type PaidReply = Reply & { state: 'paid' }

// The sum of a charge's refunds and lost disputes, each counted once. Stored records count even if this reply does not
// contain them: the poll may be older than the refund.
export function reversedOf({ reversals = [], disputes = [] }: PaidReply, stored: MoneyBack): bigint {
  const lost = stored.disputes.filter(isLost)
  const isNewReversal = ({ id }: { id: string }) => !stored.reversals.some(one => one.reversal_id === id)
  const isNewLoss = (one: Dispute) => isLost(one) && !lost.some(({ dispute_id }) => dispute_id === one.id)
  return sumOf([
    ...stored.reversals,
    ...reversals.filter(isNewReversal),
    ...lost,
    ...disputes.filter(isNewLoss),
  ])
}

const isLost = ({ state }: { state: Dispute['state'] }) => state === 'lost'

const sumOf = (all: readonly { amount: bigint }[]) => all.reduce((sum, { amount }) => sum + amount, 0n)

// Records the refunds and disputes of a paid attempt. Each is recorded once, by the provider's id; a dispute once more when
// it is resolved. Only the attempt that paid the payment changes the payment and notifies the merchant: the refund of an
// overpayment leaves the payment as it is.
export function recordMoneyBack(
  payment: Payment,
  attempt: Attempt,
  reply: PaidReply,
  stored: MoneyBack,
  now: Date,
): Change {
  const reversals = newReversals(payment, attempt, reply, stored, now)
  const disputes = changedDisputes(payment, attempt, reply, stored, now)
  if (reversals.length + disputes.length === 0) return { payment, attempt, events: [], tasks: [] }
  const notices = [...reversals.map(reversalNotice), ...disputes.map(record => disputeNotice(record, now))]
  const events = notices.map(notice => noticeEvent(payment, attempt, notice))
  const total = sumOf([...stored.reversals, ...reversals]) + sumOf(lostOf(stored, disputes))
  const isPaying = paidBy(payment, attempt)
  const moneyBack: MoneyBackChange = {
    reversals,
    disputes,
    notices: isPaying ? notices : [],
    closes: [...refundDone(attempt, payment, total, isPaying), ...disputesDone(stored, disputes)],
  }
  return {
    payment: isPaying ? withReversed(payment, attempt, reversals, total, now) : payment,
    attempt,
    events,
    tasks: tasksFor(payment, attempt, { reversals, disputes, total, isPaying }, now),
    moneyBack,
  }
}

const paidBy = ({ paid_attempt_id }: Payment, { attempt_id }: Attempt) => paid_attempt_id === attempt_id

function newReversals(
  { tx_reference, currency }: Payment,
  { merchant_id, attempt_id }: Attempt,
  { reversals = [] }: PaidReply,
  stored: MoneyBack,
  now: Date,
): ReversalRecord[] {
  const known = new Set(stored.reversals.map(({ reversal_id }) => reversal_id))
  return reversals
    .filter(({ id }) => !known.has(id))
    .map(({ id, amount, words, at = now }) => ({
      merchant_id,
      attempt_id,
      reversal_id: id,
      tx_reference,
      amount,
      currency,
      reason: words,
      reversed_at: at,
      created_at: now,
    }))
}

// A resolved dispute stays resolved.
function changedDisputes(
  { tx_reference, currency }: Payment,
  { merchant_id, attempt_id }: Attempt,
  { disputes = [] }: PaidReply,
  stored: MoneyBack,
  now: Date,
): DisputeRecord[] {
  return disputes.flatMap(({ id, state, amount, words, due_at = null }) => {
    const before = stored.disputes.find(({ dispute_id }) => dispute_id === id)
    if (before && (before.state !== 'open' || state === 'open')) return []
    const resolved_at = state === 'open' ? null : now
    const opened_at = before?.opened_at ?? now
    const names = { merchant_id, attempt_id, dispute_id: id, tx_reference }
    return [{ ...names, state, amount, currency, reason: words, due_at, opened_at, resolved_at }]
  })
}

const lostOf = (stored: MoneyBack, changed: readonly DisputeRecord[]) =>
  [...stored.disputes, ...changed].filter(isLost)

const reversalNotice = ({ amount, reason, reversed_at }: ReversalRecord): MoneyBackNotice => ({
  type: 'reversed',
  amount,
  reason,
  at: reversed_at,
})

const disputeNotice = ({ state, amount, reason }: DisputeRecord, now: Date): MoneyBackNotice => ({
  type: state === 'open' ? 'dispute_opened' : state === 'won' ? 'dispute_won' : 'dispute_lost',
  amount,
  reason,
  at: now,
})

function noticeEvent({ currency }: Payment, attempt: Attempt, notice: MoneyBackNotice): NewEvent {
  const reason = `${currency} ${figureIn(notice.amount, currency)}${notice.reason ? `. ${notice.reason}` : ''}`
  return event(notice.type, 'provider', attempt, reason, notice.at)
}

// Never more than was charged: a lost dispute may also be listed as a refund.
function withReversed(
  payment: Payment,
  { charged }: Attempt,
  reversals: readonly ReversalRecord[],
  total: bigint,
  now: Date,
): Payment {
  if (total === 0n) return payment
  const most = charged ?? payment.total
  return {
    ...payment,
    reversed_at: payment.reversed_at ?? reversals[0]?.reversed_at ?? now,
    reversed_amount: total < most ? total : most,
    updated_at: now,
  }
}

type NewRecords = {
  reversals: readonly ReversalRecord[]
  disputes: readonly DisputeRecord[]
  total: bigint
  isPaying: boolean
}

function tasksFor(
  { currency }: Payment,
  attempt: Attempt,
  { reversals, disputes, total, isPaying }: NewRecords,
  now: Date,
): Task[] {
  const tasks: Task[] = []
  const last = reversals.at(-1)
  if (last && isPaying) tasks.push(task(attempt, 'reversed', { amount: total, currency }, last.reason, now))
  for (const { state, amount, reason } of disputes) {
    if (state === 'won') continue
    const kind = state === 'open' ? 'dispute_opened' : 'dispute_lost'
    tasks.push(task(attempt, kind, { amount, currency }, reason, now))
  }
  return tasks
}

// The refund of an overpayment has been made.
const refundDone = ({ charged }: Attempt, { total: due }: Payment, total: bigint, isPaying: boolean) =>
  !isPaying && total >= (charged ?? due)
    ? [{ kind: 'refund' as const, note: 'The provider reports the refund.' }]
    : []

function disputesDone(stored: MoneyBack, changed: readonly DisputeRecord[]) {
  const states = new Map([...stored.disputes, ...changed].map(({ dispute_id, state }) => [dispute_id, state]))
  const hasResolved = changed.some(({ state }) => state !== 'open')
  return hasResolved && ![...states.values()].includes('open')
    ? [{ kind: 'dispute_opened' as const, note: 'The dispute was resolved.' }]
    : []
}

// The charge was refunded, or lost in a dispute, before it was ever recorded as paid. Adds the records to that change.
export const withReversals = (change: Change, reply: PaidReply, stored: MoneyBack, now: Date): Change => {
  const { payment, attempt } = change
  const reversals = newReversals(payment, attempt, reply, stored, now)
  const disputes = changedDisputes(payment, attempt, reply, stored, now).filter(isLost)
  if (reversals.length + disputes.length === 0) return change
  const notices = [...reversals.map(reversalNotice), ...disputes.map(record => disputeNotice(record, now))]
  return {
    ...change,
    events: [...notices.map(notice => noticeEvent(payment, attempt, notice)), ...change.events],
    moneyBack: { reversals, disputes, notices: [], closes: [] },
  }
}
