import { furthestPollMs } from '../core/payment/pollSchedule.ts'
import {
  attemptsPostponed,
  rescheduleAttempt,
  rescheduleDelivery,
  deliveriesPostponed,
} from '../store/postponed.ts'
import type { Runtime } from './runtime.ts'

const batch = 100
const firstTryWithinMs = 60_000 // the first try of a delivery is due when it is written
const leaseMs = 30_000 // of a delivery

// When the database's own clock has been set back, by an hour say, what the old one postponed would wait for that hour.
// Nothing is ever postponed so far, so it is known by that, and due now. Row by row: one that is locked waits for the next
// round, and holds up no other. Gives back how many were brought.
export async function reschedule(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  onTrouble: (error: unknown) => void,
): Promise<number> {
  const now = clock()
  const later = (ms: number) => new Date(now.getTime() + ms)
  const { unresolved, ended } = furthestPollMs
  const attempts = await attemptsPostponed(db, { unresolved: later(unresolved), ended: later(ended) }, batch)
  const deliveries = await deliveriesPostponed(db, later(firstTryWithinMs), batch)
  const lease = { now, until: later(leaseMs) }
  let brought = 0
  for (const bring of [
    ...attempts.map(key => () => rescheduleAttempt(db, key, now)),
    ...deliveries.map(key => () => rescheduleDelivery(db, key, lease)),
  ])
    await bring().then(() => brought++, onTrouble)
  return brought
}
