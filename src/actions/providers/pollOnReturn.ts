import type { Attempt } from '../../core/payment/attempt.ts'
import { returnGapMs } from '../../core/payment/pollSchedule.ts'
import { hastenPoll, noteReturn } from '../../store/payments/returns.ts'
import { pollAttempt, pollElsewhere } from '../payments/callProvider.ts'
import type { PaymentDeps } from '../payments/deps.ts'

// Who comes back from a provider's page has just done something there: we ask before we show. However often the address
// is called, and on however many nodes, that is done once in some seconds. Who comes in between waits for the question
// that is under way here; and it is asked again when these seconds are over, because they may have done something since.
export function createReturnPolls(deps: PaymentDeps) {
  const underWay = new Map<string, Promise<unknown>>()

  return (attempt: Attempt, deadline: number): Promise<unknown> => {
    const { attempt_id } = attempt
    const asked =
      underWay.get(attempt_id) ??
      askOnReturn(deps, attempt, deadline).finally(() => underWay.delete(attempt_id))
    underWay.set(attempt_id, asked)
    return asked
  }
}

async function askOnReturn(deps: PaymentDeps, attempt: Attempt, deadline: number) {
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
