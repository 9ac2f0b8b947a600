import { Unavailable } from '../../core/interface/refusal.ts'
import { figureIn } from '../../core/money.ts'
import { moneyBackBody } from '../../core/notification/notification.ts'
import { applyReply, keepLaterPoll, referenceTaken } from '../../core/payment/applyReply.ts'
import type { Attempt } from '../../core/payment/attempt.ts'
import { type Change, type MoneyBack, type Task, task } from '../../core/payment/change.ts'
import { pollGap } from '../../core/payment/pollSchedule.ts'
import type { SanitizedReply } from '../../core/provider/reply.ts'
import { matchReversals, replyOfListed } from '../../core/refund/matchReversals.ts'
import type { Refund } from '../../core/refund/refund.ts'
import { cleanError } from '../../core/text.ts'
import type { ResolvedChange, ResolveItem } from '../../runtime/paymentDecisions.ts'
import type { GuardedAccount } from '../../runtime/providers/guard.ts'
import type { PaymentDeps } from '../../runtime/runtime.ts'
import type { Tx } from '../../store/db.ts'
import { findReferenceHolder, type PaidReference } from '../../store/payments/attempts.ts'
import { postponeAttempt } from '../../store/payments/dueAttempts.ts'
import { type LockedToResolve, type LockMode, lockToResolve } from '../../store/payments/locks.ts'
import { moneyBackOf } from '../../store/payments/moneyBack.ts'
import { byPaymentName } from '../../store/payments/paymentKeys.ts'
import { reopenTaskOf } from '../../store/payments/tasks.ts'
import { refundsOfPayment } from '../../store/refunds/merchantRefunds.ts'
import { resolveRefund } from './resolveRefund.ts'
import { type DecisionOutcome, oneFromEach, outcomeOf } from './groupTransactions.ts'
import { changeOf, type PaymentChange, wakeDispatchers, type Write } from './writeChanges.ts'

// Stores a provider's reply: what it changes is decided by `applyReply`, in `resolveMany` below, together with other replies
// that arrive at the same time. Idempotent: the same reply twice changes nothing.
export async function resolveAttempt(
  deps: PaymentDeps,
  snapshot: Attempt, // as it was when the provider was called
  reply: SanitizedReply,
  askedAt: Date,
  guarded: GuardedAccount | undefined, // the account that was called
): Promise<Change> {
  const now = deps.clock()
  const { merchant_id, tx_reference, payment_method, provider_account, sends, submits } = snapshot
  const context = { ...(guarded?.terms(payment_method) ?? noTerms), askedAt, sends, submits }
  const account = guarded?.account ?? provider_account
  const isOwnAccount = guarded?.ownedBy === merchant_id
  const change = await deps.decisions
    .resolve({ merchant_id, tx_reference, snapshot, reply, context, account, isOwnAccount, now })
    .catch(async (error: unknown) => {
      if (!(error instanceof Unavailable)) await raiseNotRecorded(deps, snapshot, reply, error, now)
      throw error
    })
  deps.watch(change)
  if (change.events.some(({ kind }) => kind === 'status_changed')) wakeDispatchers(deps)
  await resolveListed(deps, change, askedAt)
  return change
}

// A refund that the provider lists as made has succeeded. Each is stored in its own transaction. If this process dies before,
// the refund is polled.
async function resolveListed(deps: PaymentDeps, { refundsListed = [] }: ResolvedChange, askedAt: Date) {
  for (const { refund, reversal } of refundsListed) {
    if (refund.state === 'succeeded' && refund.provider_ref === reversal.id) continue
    const { sends, sent_at } = refund
    const context = { visibleWithinMs: undefined, timing: {}, askedAt, sends, sentBefore: sent_at }
    await resolveRefund(deps, refund, replyOfListed(refund, reversal), context)
  }
}

// The terms of a provider that is not set up any more are unknown.
const noTerms = {
  absentForMs: Infinity,
  lifetimeMs: undefined,
  failureMayReverseForMs: undefined,
  timing: {},
}

export async function resolveMany(tx: Tx, all: readonly ResolveItem[], mode: LockMode, write: Write) {
  const items = oneFromEach(all).toSorted(byPaymentName)
  const locked = await lockToResolve(tx, items, mode)
  const byAttempt = new Map(locked.map(one => [one.attempt.attempt_id, one]))
  const decided = new Map<ResolveItem, DecisionOutcome<ResolveDecision>>()
  for (const item of items) {
    const found = byAttempt.get(item.snapshot.attempt_id)
    if (found) decided.set(item, await decide(tx, found, item, mode))
  }
  const newTasks = await write(
    [...decided.values()].flatMap(one => ('answer' in one ? [one.answer.saved] : [])),
  )
  const outcomes = new Map<ResolveItem, DecisionOutcome<ResolvedChange>>()
  for (const [item, outcome] of decided)
    outcomes.set(
      item,
      'error' in outcome ? outcome : { answer: withNewTasks(outcome.answer.change, newTasks) },
    )
  return outcomes
}

type ResolveDecision = { change: ResolvedChange; saved: PaymentChange }

const withNewTasks = (change: ResolvedChange, tasks: readonly Task[]): ResolvedChange => ({
  ...change,
  tasks: tasks.filter(({ attempt_id }) => attempt_id === change.attempt.attempt_id),
})

async function decide(
  tx: Tx,
  found: LockedToResolve,
  item: ResolveItem,
  mode: LockMode,
): Promise<DecisionOutcome<ResolveDecision>> {
  const { payment, attempt } = found
  const hasMoneyBack = mayHaveMoneyBack(attempt, item.reply)
  const stored = hasMoneyBack ? await moneyBackOf(tx, attempt) : undefined
  const refunds = hasMoneyBack ? await refundsOfCharge(tx, found) : []
  const applied = outcomeOf(() => applyWithRefunds(found, item, stored, refunds))
  if ('error' in applied) return applied
  const { change: decided, reference } = await withReference(tx, found, applied.answer, item, mode)
  const change = { ...decided, attempt: keepLaterPoll(decided.attempt, attempt, item.snapshot) }
  return outcomeOf<ResolveDecision>(() => ({
    change,
    saved: {
      ...changeOf(payment, change.payment, change.events),
      attemptBefore: attempt,
      repliedAttempt: change.attempt,
      isOwnAccount: item.isOwnAccount,
      moneyBackBefore: stored,
      reference,
      tasks: change.tasks,
      ...moneyBackPartsOf(change, item.now),
    },
  }))
}

const refundsOfCharge = async (tx: Tx, { payment, attempt }: LockedToResolve): Promise<Refund[]> =>
  payment.refunded_amount === null
    ? []
    : (await refundsOfPayment(tx, payment)).filter(({ attempt_id }) => attempt_id === attempt.attempt_id)

// One of our refunds is never a reversal. While the provider may list one under an id that is not stored yet, what it lists is
// not recorded, and it is polled again.
function applyWithRefunds(
  { payment, attempt }: LockedToResolve,
  { reply, now, context }: ResolveItem,
  stored: MoneyBack | undefined,
  refunds: readonly Refund[],
): ResolvedChange {
  if (reply.state !== 'paid' || !reply.reversals || refunds.length === 0)
    return applyReply(payment, attempt, reply, now, context, stored)
  const { ours, deferred, reversals } = matchReversals(reply.reversals, refunds)
  const change = applyReply(payment, attempt, { ...reply, reversals }, now, context, stored)
  const next_poll_at =
    deferred.length > 0
      ? new Date(now.getTime() + pollGap(attempt.polls, context.timing))
      : change.attempt.next_poll_at
  return { ...change, attempt: { ...change.attempt, next_poll_at }, refundsListed: ours }
}

// An attempt that becomes paid holds the provider's reference, or its own id if the provider has no reference. If another
// attempt holds the reference, this one does not become paid. A batch does not read the holders: a reference that is held
// violates the key of its table, and every item of the batch is decided again, alone. If a holder commits after the read of
// a single item, the key is violated, too, and the next try reads the holder.
async function withReference(
  tx: Tx,
  { payment, attempt: before }: LockedToResolve,
  change: ResolvedChange,
  { account, now }: ResolveItem,
  mode: LockMode,
): Promise<{ change: ResolvedChange; reference?: PaidReference }> {
  const { state, merchant_id, attempt_id, provider_ref } = change.attempt
  if (state !== 'paid' || before.state === 'paid') return { change }
  const reference = { account, reference: provider_ref ?? attempt_id, merchant_id, attempt_id }
  const holder = mode === 'waiting' ? await findReferenceHolder(tx, reference) : undefined
  if (!holder) return { change, reference }
  if (holder.attempt_id === attempt_id) return { change } // the first run of this transaction was committed
  return { change: referenceTaken(payment, before, { ...reference, holder: holder.name }, now) }
}

// Refunds and disputes are rare, so their records are read only if there may be some: the reply or a webhook named one, or
// the provider reported a charge before that did not pay.
const mayHaveMoneyBack = ({ state, charged, check_reversals }: Attempt, reply: SanitizedReply) =>
  reply.state === 'paid' &&
  (reply.reversals !== undefined ||
    reply.disputes !== undefined ||
    check_reversals ||
    (charged !== null && state !== 'paid'))

// The merchant reads refunds and disputes in its feed.
function moneyBackPartsOf(
  { payment, attempt, moneyBack }: Change,
  now: Date,
): Pick<PaymentChange, 'moneyBack' | 'feedEntries' | 'closedTasks'> {
  if (!moneyBack) return {}
  const { merchant_id, tx_reference, mode, status } = payment
  const { attempt_id } = attempt
  return {
    moneyBack,
    feedEntries: moneyBack.notices.map(notice => ({
      merchant_id,
      tx_reference,
      mode,
      status,
      type: notice.type,
      body: moneyBackBody(payment, attempt, notice),
      created_at: now,
    })),
    closedTasks: moneyBack.closes.map(({ kind, note }) => ({ attempt_id, kind, note, closed_at: now })),
  }
}

const maxErrorLength = 300
const minPostponeMs = 20_000 // as long as a lease

// The provider has replied, and the database refused the change. A task is raised once, in its own commit, and the attempt
// is polled again with growing gaps, because the next reply may be stored.
async function raiseNotRecorded(
  { db, watch }: PaymentDeps,
  snapshot: Attempt,
  reply: SanitizedReply,
  error: unknown,
  now: Date,
) {
  const note = `The provider reports ${summaryOf(reply)}. Storing it failed: ${cleanError(error, maxErrorLength)}`
  // If the task cannot be stored either, it still raises the alarm of this process.
  const raised = await reopenTaskOf(db, snapshot, 'not_recorded', note, now).catch(() =>
    task(snapshot, 'not_recorded', { amount: 0n, currency: '' }, note, now),
  )
  if (raised) watch({ attempt: snapshot, events: [], tasks: [raised] })
  const soonest = new Date(now.getTime() + Math.max(pollGap(snapshot.polls), minPostponeMs))
  await postponeAttempt(db, snapshot, soonest).catch(() => {}) // then it is polled when its lease ends
}

function summaryOf(reply: SanitizedReply): string {
  if (reply.state === 'paid') {
    const { amount, currency, provider_ref } = reply
    const figure = amount === 'not_said' ? 'without an amount' : `${currency} ${figureIn(amount, currency)}`
    return `paid, ${figure}${provider_ref ? `, reference ${provider_ref}` : ''}`
  }
  if (reply.state === 'failed') return `failed, ${reply.reason}`
  return 'words' in reply ? reply.words || reply.state : reply.state
}
