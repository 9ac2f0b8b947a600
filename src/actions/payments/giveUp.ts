import type { GaveUpFor } from '../../core/payment/attempt.ts'
import { decideGiveUp as decide, type GivenUp } from '../../core/payment/customerActs.ts'
import { databaseDeadline, withShortDeadline } from '../../runtime/inTime.ts'
import type { Tx } from '../../store/db.ts'
import { attemptsOf, saveGivenUp } from '../../store/payments/attempts.ts'
import { addEvents } from '../../store/payments/events.ts'
import type { PaymentKey } from '../../store/payments/paymentKeys.ts'
import { lockPayment } from '../../store/payments/paymentLife.ts'
import { pollAttempt, pollElsewhere } from './callProvider.ts'
import type { PaymentDeps } from './deps.ts'

// `number` is the attempt that the page was made for: an old page, or a second click, wishes for nothing.
export type GiveUpRequest = { number: number; gave_up_for: GaveUpFor }

// The customer goes on without the attempt that is on its way. The wish is stored before the provider hears of it; the
// provider's answer is stored before ours is given, if it comes soon. Whoever dies in between, the next who asks about
// the attempt asks for the same.
export async function giveUp(
  deps: PaymentDeps,
  payment: PaymentKey,
  request: GiveUpRequest,
  deadline = databaseDeadline(),
): Promise<void> {
  const now = deps.clock()
  const db = deps.db.withQuota('give_up').until(deadline)
  const given = await db.transaction(tx => store(tx, payment, request, now))
  if (!given) return
  deps.watch({ ...given, tasks: [] })
  const { attempt } = given
  await (deps.providerAccounts.findFor(attempt)
    ? withShortDeadline(pollAttempt(deps, attempt))
    : pollElsewhere(deps, db, attempt))
}

// One transaction. Run again after a lost commit, it finds the wish and leaves the question to a worker.
async function store(
  tx: Tx,
  key: PaymentKey,
  request: GiveUpRequest,
  now: Date,
): Promise<GivenUp | undefined> {
  const payment = await lockPayment(tx, key)
  if (!payment) return undefined
  const given = decide(payment, await attemptsOf(tx, key.merchant_id, key.tx_reference), request, now)
  if (!given) return undefined
  await saveGivenUp(tx, given.attempt)
  await addEvents(tx, key, given.events)
  return given
}
