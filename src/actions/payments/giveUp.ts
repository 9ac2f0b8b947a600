import type { GaveUpFor } from '../../core/payment/attempt.ts'
import { decideGiveUp } from '../../core/payment/customerActs.ts'
import { databaseDeadline, withShortDeadline } from '../../runtime/deadline.ts'
import type { PaymentDeps } from '../../runtime/runtime.ts'
import { attemptsOf } from '../../store/payments/attempts.ts'
import type { PaymentKey } from '../../store/payments/paymentKeys.ts'
import { requireOriginal } from '../installation/requireOriginal.ts'
import { pollAttempt, pollElsewhere } from './callProvider.ts'
import { changeOf, changeOne } from './writeChanges.ts'

// `number` is the attempt that the page was made for: an old page or a second click changes nothing.
export type GiveUpRequest = { number: number; gave_up_for: GaveUpFor }

// The customer continues without the unresolved attempt. This is stored before the provider is asked to withdraw the order.
// If the provider's reply comes soon, it is stored before this returns. If this process dies in between, the next poll asks
// the provider for the same. Run again after a lost commit, the transaction finds the request and leaves the poll to a
// worker.
export async function giveUp(
  deps: PaymentDeps,
  key: PaymentKey,
  request: GiveUpRequest,
  deadline = databaseDeadline(),
): Promise<void> {
  const now = deps.clock()
  const db = deps.db.withQuota('give_up').withDeadline(deadline)
  const given = await changeOne(db, deps.localWorkers, key, async (tx, payment) => {
    requireOriginal(deps, payment.mode)
    const attempts = await attemptsOf(tx, key.merchant_id, key.tx_reference)
    const answer = decideGiveUp(payment, attempts, request, now)
    return {
      answer,
      change: answer && { ...changeOf(payment, payment, answer.events), actedAttempt: answer.attempt },
    }
  })
  if (!given) return
  deps.watch({ ...given, tasks: [] })
  const { attempt } = given
  await (deps.providerAccounts.findFor(attempt)
    ? withShortDeadline(pollAttempt(deps, attempt))
    : pollElsewhere(deps, db, attempt))
}
