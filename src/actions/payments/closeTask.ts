import type { Attempt } from '../../core/payment/attempt.ts'
import { closeTask as decide } from '../../core/payment/closeTask.ts'
import type { Payment } from '../../core/payment/payment.ts'
import type { Task, TaskKind } from '../../core/payment/task.ts'
import type { Db, Tx } from '../../store/db.ts'
import { attemptsOf } from '../../store/payments/attempts.ts'
import { addEvents } from '../../store/payments/events.ts'
import type { PaymentKey } from '../../store/payments/paymentKeys.ts'
import { lockPayment, type PaymentWithMerchant } from '../../store/payments/paymentLife.ts'
import { closeTask as close, tasksOf } from '../../store/payments/tasks.ts'
import { redactAgain } from '../../store/redaction/redaction.ts'
import { saveChange } from './decisions/saveChange.ts'

export type Closing = { kind: TaskKind; note: string; number?: number } // of the attempt, where several have one
export type Closed =
  | { done: 'closed'; task: Task; payment: Payment; gaveUp: boolean }
  | { done: 'no_such_task' }
  | { done: 'several'; numbers: number[] }

// A person has looked and says what came of it. What only that person waited for ends with it.
export const closeTask = (db: Db, key: PaymentKey, closing: Closing, now: Date): Promise<Closed> =>
  db.transaction(async tx => {
    const payment = await lockPayment(tx, key)
    if (!payment) return { done: 'no_such_task' }
    const attempts = await attemptsOf(tx, key.merchant_id, key.tx_reference)
    const asked = (await tasksOf(tx, key.merchant_id, key.tx_reference)).filter(
      ({ kind, attempt_id }) =>
        kind === closing.kind &&
        (closing.number === undefined || numberOf(attempts, attempt_id) === closing.number),
    )
    const ours = asked.find(({ closed_at }) => closed_at?.getTime() === now.getTime()) // a lost commit, run again
    if (ours) return { done: 'closed', task: ours, payment, gaveUp: isGivenUp(attempts, ours) }
    const open = asked.filter(({ closed_at }) => closed_at === null)
    if (open.length > 1)
      return {
        done: 'several',
        numbers: open.map(({ attempt_id }) => numberOf(attempts, attempt_id)).sort((a, b) => a - b),
      }
    const [task] = open
    return task ? closeOne(tx, payment, attempts, task, closing.note, now) : { done: 'no_such_task' }
  })

const numberOf = (attempts: readonly Attempt[], attempt_id: string) =>
  attempts.find(attempt => attempt.attempt_id === attempt_id)?.number ?? 0

const isGivenUp = (attempts: readonly Attempt[], { attempt_id, closed_at }: Task) =>
  attempts.some(
    one =>
      one.attempt_id === attempt_id &&
      one.reason === 'given_up' &&
      one.ended_at?.getTime() === closed_at?.getTime(),
  )

async function closeOne(
  tx: Tx,
  payment: PaymentWithMerchant,
  attempts: readonly Attempt[],
  open: Task,
  note: string,
  now: Date,
): Promise<Closed> {
  const { merchant_id, attempt_id, kind } = open
  const task = await close(tx, merchant_id, attempt_id, kind, note, now)
  const attempt = attempts.find(one => one.attempt_id === attempt_id)
  if (!task || !attempt) throw new Error('a task without its attempt')
  await redactAgain(tx, payment)
  const { gaveUp, ...change } = decide(payment, attempt, kind, note, now)
  if (gaveUp) await saveChange(tx, payment, change)
  else await addEvents(tx, payment, change.events)
  return { done: 'closed', task, payment: change.payment, gaveUp }
}
