import { notSetUpWords, whyNotSetUp } from '../../core/provider/accountIdentity.ts'
import type { Attempt } from '../../core/payment/attempt.ts'
import type { PaymentDeps } from '../../runtime/runtime.ts'
import { attemptsOf } from '../../store/payments/attempts.ts'
import { claimOverdue, type OverdueAttempt, overdueElsewhere } from '../../store/payments/dueAttempts.ts'
import { addTaskOf } from '../../store/payments/tasks.ts'
import { overdueRefundsElsewhere } from '../../store/refunds/dueRefunds.ts'
import { pollAttempt } from '../payments/callProvider.ts'
import { pollLease } from './pollDue.ts'

const minute = 60_000
const changedAfterMs = minute // the account is open here, with another mode or business
const missingAfterMs = 10 * minute // the account is not open here; another node may have it
const maxAtOnce = 200

type Waiting = { account: string; attempts: number }
export type OverdueWatch = { look(): Promise<number>; waiting(): readonly Waiting[] }

// Attempts of accounts that are not open here are polled by the nodes that have the accounts. An attempt that stays overdue
// is polled by no node: it raises a task, once, and stays due, so that it continues as soon as its account is back. An
// attempt must be overdue in two searches: after an outage the nodes that have the account may only be starting. An order
// that was never sent ends without its provider.
export function createOverdueWatch(deps: PaymentDeps): OverdueWatch {
  let seenBefore = new Set<string>()
  let waiting: readonly Waiting[] = []
  const refundWatch = createRefundWatch(deps)

  async function look() {
    const now = deps.clock()
    const opened = deps.providerAccounts.opened()
    const isOpen = ({ provider_account }: Attempt) =>
      opened.some(({ account }) => account === provider_account)
    const since = new Date(now.getTime() - changedAfterMs)
    const found = await overdueElsewhere(deps.db.withQuota('ask'), opened, { since, now, limit: maxAtOnce })
    const late = found.filter(
      one => isOpen(one) || now.getTime() - (one.next_poll_at as Date).getTime() >= missingAfterMs,
    )
    const still = late.filter(one => seenBefore.has(nameOf(one)))
    seenBefore = new Set(late.map(nameOf))
    waiting = countByAccount(still)
    let raised = 0
    for (const one of still) if (await handle(one, now)) raised++
    return raised + (await refundWatch(now))
  }

  async function handle({ has_task, ...attempt }: OverdueAttempt, now: Date): Promise<boolean> {
    if (attempt.state === 'not_sent') {
      if (await claimOverdue(deps.db, attempt, pollLease(now)))
        await pollAttempt(deps, { ...attempt, polls: attempt.polls + 1 })
      return false
    }
    if (has_task) return false
    const opened = deps.providerAccounts.opened().find(({ account }) => account === attempt.provider_account)
    const count = waiting.find(({ account }) => account === attempt.provider_account)?.attempts ?? 1
    const note = notSetUpWords(attempt, opened, count)
    const task = await addTaskOf(deps.db, attempt, 'not_set_up', note, now)
    if (task) deps.watch({ attempt, events: [], tasks: [task] })
    return task !== undefined
  }

  return { look, waiting: () => waiting }
}

// The same for refunds whose account is open on no node.
function createRefundWatch({ db, providerAccounts, watch }: PaymentDeps) {
  let seenBefore = new Set<string>()

  return async (now: Date): Promise<number> => {
    const opened = providerAccounts.opened()
    const since = new Date(now.getTime() - missingAfterMs)
    const search = { since, now, limit: maxAtOnce }
    const late = await overdueRefundsElsewhere(db.withQuota('ask'), opened, search)
    const still = late.filter(({ refund_reference }) => seenBefore.has(refund_reference))
    seenBefore = new Set(late.map(({ refund_reference }) => refund_reference))
    let raised = 0
    for (const refund of still) {
      const attempts = await attemptsOf(db, refund.merchant_id, refund.tx_reference)
      const attempt = attempts.find(({ attempt_id }) => attempt_id === refund.attempt_id)
      const account = opened.find(one => one.account === refund.provider_account)
      const note = `${whyNotSetUp(refund, account)} The refund ${refund.refund_reference} waits for it.`
      const task = attempt && (await addTaskOf(db, attempt, 'not_set_up', note, now))
      if (!task) continue
      watch({ attempt, events: [], tasks: [task] })
      raised++
    }
    return raised
  }
}

// The same attempt, not polled since.
const nameOf = ({ attempt_id, polls, next_poll_at }: Attempt) =>
  `${attempt_id} ${polls} ${next_poll_at?.getTime()}`

function countByAccount(all: readonly Attempt[]): Waiting[] {
  const counts = new Map<string, number>()
  for (const { provider_account } of all)
    counts.set(provider_account, (counts.get(provider_account) ?? 0) + 1)
  return [...counts].map(([account, attempts]) => ({ account, attempts }))
}
