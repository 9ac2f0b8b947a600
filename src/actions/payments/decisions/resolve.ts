import { moneyBackBody } from '../../../core/notification/notification.ts'
import {
  applyReply,
  keepLaterPoll,
  referenceTaken,
  type ReplyContext,
} from '../../../core/payment/applyReply.ts'
import type { Attempt } from '../../../core/payment/attempt.ts'
import type { Change } from '../../../core/payment/change.ts'
import type { SanitizedReply } from '../../../core/provider/reply.ts'
import type { Tx } from '../../../store/db.ts'
import { addNotification } from '../../../store/notifications/notifications.ts'
import { lockToResolve, type Patience, type ToResolve } from '../../../store/payments/locks.ts'
import { addMoneyBack, moneyBackOf } from '../../../store/payments/moneyBack.ts'
import { holdReference, nameOfAttempt, type PaidReference } from '../../../store/payments/paidReferences.ts'
import type { PaymentKey } from '../../../store/payments/paymentKeys.ts'
import { addTasks, closeTask } from '../../../store/payments/tasks.ts'
import { byName, type DecisionOutcome, eachMerchant, oneFromEach, outcomeOf } from './groupTransactions.ts'
import { changeOf, type PaymentChange } from './saveChange.ts'
import type { Write } from './writing.ts'

export type ResolveItem = PaymentKey & {
  asked: Attempt // as it was when we asked
  reply: SanitizedReply
  worth: ReplyContext
  account: string
  now: Date
}

export async function resolveMany(tx: Tx, all: readonly ResolveItem[], patience: Patience, write: Write) {
  const items = oneFromEach(all).toSorted(byName)
  const held = await eachMerchant(items, (merchant_id, some) =>
    lockToResolve(
      tx,
      merchant_id,
      some.map(({ asked }) => asked.attempt_id),
      patience,
    ),
  )
  const lives = new Map(held.map(life => [life.attempt.attempt_id, life]))
  const changes: PaymentChange[] = []
  const outcomes = new Map<ResolveItem, DecisionOutcome<Change>>()
  for (const item of items) {
    const life = lives.get(item.asked.attempt_id)
    if (life) outcomes.set(item, await settleOne(tx, life, item, patience, changes))
  }
  write(changes)
  return outcomes
}

// Of several at once it is expected that nobody holds their references: where somebody does, all of them are refused, and
// each is resolved alone.
async function settleOne(
  tx: Tx,
  life: ToResolve,
  item: ResolveItem,
  patience: Patience,
  changes: PaymentChange[],
): Promise<DecisionOutcome<Change>> {
  const stored = mayHaveMoneyBack(life.attempt, item.reply) ? await moneyBackOf(tx, life.attempt) : undefined
  const wished = outcomeOf(() =>
    applyReply(life.payment, life.attempt, item.reply, item.now, item.worth, stored),
  )
  if ('error' in wished) return wished
  const reference = referenceOf(life.attempt, wished.answer, item.account)
  const doubted =
    reference && patience === 'waiting' ? await doubtOf(tx, life, reference, item.now) : undefined
  const decided = doubted ?? wished.answer
  const change = { ...decided, attempt: keepLaterPoll(decided.attempt, life.attempt, item.asked) }
  const saved = outcomeOf(() => changeOf(life.payment, change.payment, change.events))
  if ('error' in saved) return saved
  const kept = patience === 'waiting' ? undefined : reference
  changes.push({ ...saved.answer, replied: change.attempt, reference: kept })
  await saveMoneyBack(tx, change, item.now)
  return { answer: { ...change, tasks: await addTasks(tx, change.tasks) } }
}

// Refunds and disputes are rare, so their records are read only where there may be some: the reply or a webhook named one,
// or the provider reported a charge before that did not pay.
const mayHaveMoneyBack = ({ state, charged, check_reversals }: Attempt, reply: SanitizedReply) =>
  reply.state === 'paid' &&
  (reply.reversals !== undefined ||
    reply.disputes !== undefined ||
    check_reversals ||
    (charged !== null && state !== 'paid'))

// Refunds and disputes, in the transaction of the change that they belong to. The merchant reads them in its feed.
async function saveMoneyBack(tx: Tx, { payment, attempt, moneyBack }: Change, now: Date) {
  if (!moneyBack) return
  await addMoneyBack(tx, moneyBack)
  const { merchant_id, tx_reference, mode, status } = payment
  for (const notice of moneyBack.notices) {
    const body = moneyBackBody(payment, attempt, notice)
    const entry = { merchant_id, tx_reference, mode, status, type: notice.type, body, created_at: now }
    await addNotification(tx, entry, undefined)
  }
  for (const { kind, note } of moneyBack.closes)
    await closeTask(tx, merchant_id, attempt.attempt_id, kind, note, now)
}

// Whatever becomes paid holds the provider's reference. A yes without one goes by the order's own name.
function referenceOf(before: Attempt, { attempt }: Change, account: string): PaidReference | undefined {
  if (attempt.state !== 'paid' || before.state === 'paid') return undefined
  const { merchant_id, attempt_id, provider_ref } = attempt
  return { account, reference: provider_ref ?? attempt_id, merchant_id, attempt_id }
}

// Where another attempt holds it already, this one does not become paid.
async function doubtOf(tx: Tx, { payment, attempt }: ToResolve, wanted: PaidReference, now: Date) {
  const { account, reference } = wanted
  const holder = await holdReference(tx, account, reference, wanted)
  if (holder.attempt_id === wanted.attempt_id) return undefined
  return referenceTaken(payment, attempt, { reference, holder: await nameOfAttempt(tx, holder) }, now)
}
