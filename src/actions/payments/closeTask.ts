import type { Attempt } from '../../core/payment/attempt.ts'
import type { Task, TaskKind } from '../../core/payment/change.ts'
import { decideCloseTask } from '../../core/payment/closeTask.ts'
import type { Payment } from '../../core/payment/payment.ts'
import type { Db } from '../../store/db.ts'
import { attemptsOf } from '../../store/payments/attempts.ts'
import type { PaymentKey } from '../../store/payments/paymentKeys.ts'
import type { PaymentWithMerchant } from '../../store/payments/paymentLife.ts'
import { tasksOf } from '../../store/payments/tasks.ts'
import { changeOf, changeOne, type PaymentChange } from './writeChanges.ts'

type CloseTaskRequest = {
  kind: TaskKind
  note: string
  number?: number // of the attempt, if several have such a task
  isForm?: true // a form may be submitted twice in a millisecond: what another request has closed is not its own work
}
export type CloseTaskResult =
  | { done: 'closed'; task: Task; payment: Payment; gaveUp: boolean }
  | { done: 'no_such_task' }
  | { done: 'several'; numbers: number[] }

const noSuchTask = { done: 'no_such_task' } as const

// An operator closes a task with a note. An attempt that waited only for the operator is given up. The CLI does this, in a
// process without workers.
export const closeTask = async (
  db: Db,
  key: PaymentKey,
  closing: CloseTaskRequest,
  now: Date,
): Promise<CloseTaskResult> => {
  let runs = 0 // after a lost commit the work runs again, and finds its own rows
  const result = await changeOne<CloseTaskResult>(db, {}, key, async (tx, payment) => {
    const mayBeOwn = ++runs > 1 || !closing.isForm
    const attempts = await attemptsOf(tx, key.merchant_id, key.tx_reference)
    const tasks = (await tasksOf(tx, key.merchant_id, key.tx_reference)).filter(
      ({ kind, attempt_id }) =>
        kind === closing.kind &&
        (closing.number === undefined || numberOf(attempts, attempt_id) === closing.number),
    )
    const closed = mayBeOwn && tasks.find(({ closed_at }) => closed_at?.getTime() === now.getTime())
    if (closed)
      return { answer: { done: 'closed', task: closed, payment, gaveUp: isGivenUp(attempts, closed) } }
    const [open, ...others] = tasks.filter(({ closed_at }) => closed_at === null)
    if (!open) return { answer: noSuchTask }
    if (others.length > 0) {
      const numbers = [open, ...others].map(({ attempt_id }) => numberOf(attempts, attempt_id))
      return { answer: { done: 'several', numbers: numbers.sort((a, b) => a - b) } }
    }
    return closeOne(payment, attempts, open, closing.note, now)
  })
  return result ?? noSuchTask
}

const numberOf = (attempts: readonly Attempt[], attempt_id: string) =>
  attempts.find(attempt => attempt.attempt_id === attempt_id)?.number ?? 0

const isGivenUp = (attempts: readonly Attempt[], { attempt_id, closed_at }: Task) =>
  attempts.some(
    one =>
      one.attempt_id === attempt_id &&
      one.reason === 'given_up' &&
      one.ended_at?.getTime() === closed_at?.getTime(),
  )

// The operator's note may contain personal data, so a redacted payment is saved, which makes it due for redaction again.
function closeOne(
  payment: PaymentWithMerchant,
  attempts: readonly Attempt[],
  open: Task,
  note: string,
  now: Date,
): { answer: CloseTaskResult; change: PaymentChange } {
  const { attempt_id, kind } = open
  const attempt = attempts.find(one => one.attempt_id === attempt_id)
  if (!attempt) throw new Error('a task without its attempt')
  const { gaveUp, ...change } = decideCloseTask(payment, attempt, kind, note, now)
  const after = change.payment === payment && payment.redacted_at ? { ...payment } : change.payment
  const task = { ...open, closed_at: now, closed_note: note }
  return {
    answer: { done: 'closed', task, payment: change.payment, gaveUp },
    change: {
      ...changeOf(payment, after, change.events),
      repliedAttempt: gaveUp ? change.attempt : undefined,
      tasks: change.tasks,
      closedTasks: [{ attempt_id, kind, note, closed_at: now }],
    },
  }
}
