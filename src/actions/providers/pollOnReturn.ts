import type { Attempt } from '../../core/payment/attempt.ts'
import { returnGapMs } from '../../core/payment/pollSchedule.ts'
import type { PaymentDeps } from '../../runtime/runtime.ts'
import { hastenPoll, noteReturn } from '../../store/payments/callbacks.ts'
import { pollAttempt, pollElsewhere } from '../payments/callProvider.ts'

// A customer who returns from the provider's page has probably acted there, so the attempt is polled before the page is
// shown. However often the address is requested, and on however many nodes, this happens once per gap. A return in between
// waits for the poll in flight on this node, and causes another poll at the end of the gap, because the customer may have
// acted since.
export function createReturnPolls(deps: PaymentDeps) {
  const inFlight = new Map<string, Promise<unknown>>()

  return (attempt: Attempt, deadline: number): Promise<unknown> => {
    const { attempt_id } = attempt
    const polling =
      inFlight.get(attempt_id) ?? pollOnce(deps, attempt, deadline).finally(() => inFlight.delete(attempt_id))
    inFlight.set(attempt_id, polling)
    return polling
  }
}

async function pollOnce(deps: PaymentDeps, attempt: Attempt, deadline: number) {
  if (deps.installation().is !== 'original' && attempt.mode !== 'test') return undefined
  const now = deps.clock()
  const db = deps.db.withQuota('checkout').withDeadline(deadline)
  if (!isWithinGap(attempt, now) && (await noteReturn(db, attempt, now, returnGapMs)))
    return deps.providerAccounts.findFor(attempt)
      ? pollAttempt(deps, attempt)
      : pollElsewhere(deps, db, attempt)
  const end = new Date((attempt.returned_at ?? now).getTime() + returnGapMs)
  return attempt.next_poll_at && attempt.next_poll_at > end ? hastenPoll(db, attempt, end) : undefined
}

const isWithinGap = ({ returned_at }: Attempt, now: Date) =>
  returned_at !== null && returned_at <= now && now.getTime() - returned_at.getTime() < returnGapMs
