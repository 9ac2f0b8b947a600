import type { Refund } from '../../core/refund/refund.ts'
import type { PaymentDeps } from '../../runtime/runtime.ts'
import { claimDueRefunds } from '../../store/refunds/dueRefunds.ts'
import { callRefund } from './callRefund.ts'

// A question and a sending at the slowest provider, and the time to store their replies.
const leaseMs = 5000 + 30_000 + 15_000
const slots = 10 // of one account

type RefundPollers = {
  step(): Promise<number> // claims and calls due refunds that have a slot; returns how many
  finished(): Promise<void> // after all calls in flight
}

// Sends and polls due refunds. Each account has its own slots, so that a slow provider delays only its own refunds. Refunds
// of accounts that are not open here are left to the nodes that have them.
export function createRefundPollers(
  deps: PaymentDeps,
  { onTrouble, wake }: { onTrouble(error: unknown): void; wake(): void }, // `wake`: an account that was full has a free slot
): RefundPollers {
  const db = deps.db.withQuota('refunds')
  const inFlight = new Map<string, Set<Promise<void>>>()

  const slotsOf = (provider_account: string) => {
    const place = inFlight.get(provider_account) ?? new Set()
    inFlight.set(provider_account, place)
    return place
  }

  async function step() {
    const rooms = deps.providerAccounts
      .opened()
      .map(opened => ({ ...opened, most: slots - slotsOf(opened.account).size }))
      .filter(({ most }) => most > 0)
    if (rooms.length === 0) return 0
    const now = deps.clock()
    const due = await claimDueRefunds(db, rooms, { now, until: new Date(now.getTime() + leaseMs) })
    for (const refund of due) start(refund)
    return due.length
  }

  function start(refund: Refund) {
    const place = slotsOf(refund.provider_account)
    const calling = callRefund(deps, refund).then(() => {}, onTrouble)
    place.add(calling)
    void calling.then(() => {
      const wasFull = place.size >= slots
      place.delete(calling)
      if (wasFull) wake()
    })
  }

  async function finished() {
    await Promise.all([...inFlight.values()].flatMap(place => [...place]))
  }

  return { step, finished }
}

// Calls everything that is due now and waits for the end; returns how many there were.
export async function pollDueRefunds(
  deps: PaymentDeps,
  onTrouble: (error: unknown) => void,
): Promise<number> {
  const { step, finished } = createRefundPollers(deps, { onTrouble, wake() {} })
  const found = await step()
  await finished()
  return found
}
