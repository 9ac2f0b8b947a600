import { furthestPollMs } from '../core/payment/pollSchedule.ts'
import { furthestRefundPollMs } from '../core/refund/refundSchedule.ts'
import {
  attemptsPostponed,
  rescheduleAttempt,
  refundsPostponed,
  rescheduleDelivery,
  rescheduleRefund,
  deliveriesPostponed,
} from '../store/postponed.ts'
import type { Runtime } from './runtime.ts'

const batch = 100
const firstTryWithinMs = 60_000 // the first try of a delivery is due when the delivery is stored
const leaseMs = 30_000 // of a delivery

// After the database's clock was set back, by an hour for example, all scheduled work would wait an hour longer. Work that
// is due later than any schedule allows was scheduled by the old clock: it is due now. Each row is changed by itself, so
// that a locked row does not delay the rest; the next round finds it again. Returns how many were rescheduled.
export async function reschedule(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  onTrouble: (error: unknown) => void,
): Promise<number> {
  const now = clock()
  const later = (ms: number) => new Date(now.getTime() + ms)
  const { unresolved, ended } = furthestPollMs
  const attempts = await attemptsPostponed(db, { unresolved: later(unresolved), ended: later(ended) }, batch)
  const furthest = furthestRefundPollMs
  const refundLimits = { open: later(furthest.open), failed: later(furthest.failed) }
  const refunds = await refundsPostponed(db, refundLimits, batch)
  const deliveries = await deliveriesPostponed(db, later(firstTryWithinMs), batch)
  const lease = { now, until: later(leaseMs) }
  let rescheduled = 0
  for (const rescheduleOne of [
    ...attempts.map(key => () => rescheduleAttempt(db, key, now)),
    ...refunds.map(key => () => rescheduleRefund(db, key, now)),
    ...deliveries.map(key => () => rescheduleDelivery(db, key, lease)),
  ])
    await rescheduleOne().then(() => rescheduled++, onTrouble)
  return rescheduled
}
