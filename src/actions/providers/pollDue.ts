import type { OpenedIdentity } from '../../core/provider/accountIdentity.ts'
import type { Poller } from '../../runtime/localWorkers.ts'
import type { PaymentDeps } from '../../runtime/runtime.ts'
import {
  type PollLease,
  claimDueAttempts,
  type DueAttempt,
  type Room,
} from '../../store/payments/dueAttempts.ts'
import { pollAttempt } from '../payments/callProvider.ts'

// A poll and a resend at the slowest provider, and the time to store their replies.
const leaseMs = 5000 + 30_000 + 15_000
const slots = 50 // of one account, for callbacks, and as many for scheduled polls

export const pollLease = (now: Date): PollLease => ({ now, until: new Date(now.getTime() + leaseMs) })

type Pollers = {
  step(): Promise<number> // claims and polls due attempts that have a slot; returns how many
  poller: Poller // polls the attempts of callbacks that this process receives
  finished(): Promise<void> // after all polls in flight
}

type Options = { onTrouble(error: unknown): void; wake(): void } // `wake`: an account that was full has a free slot

// Polls due attempts. Each account has its own slots, so that a slow provider delays only its own attempts. Callbacks have
// separate slots, so that they do not wait behind polls that are not answered. Attempts of accounts that are not open here
// are left to the nodes that have them: see overdueAttempts.ts.
export function createPollers(deps: PaymentDeps, { onTrouble, wake }: Options): Pollers {
  const db = deps.db.withQuota('ask')
  const inFlight = new Map<string, Set<Promise<void>>>()

  const slotsOf = (provider_account: string, byCallback: boolean) => {
    const name = `${provider_account} ${byCallback ? 'callbacks' : 'due'}`
    const place = inFlight.get(name) ?? new Set()
    inFlight.set(name, place)
    return place
  }
  const roomsOf = (opened: OpenedIdentity): Room[] =>
    [true, false].map(callback_received => ({
      ...opened,
      callback_received,
      most: slots - slotsOf(opened.account, callback_received).size,
    }))

  async function step() {
    const rooms = deps.providerAccounts
      .opened()
      .flatMap(roomsOf)
      .filter(({ most }) => most > 0)
    const due = rooms.length > 0 ? await claimDueAttempts(db, rooms, pollLease(deps.clock())) : []
    for (const attempt of due) start(attempt)
    return due.length
  }

  function start({ by_callback, payment, ...attempt }: DueAttempt) {
    const place = slotsOf(attempt.provider_account, by_callback)
    const polling = pollAttempt(deps, attempt, payment).then(() => {}, onTrouble)
    place.add(polling)
    void polling.then(() => {
      const wasFull = place.size >= slots
      place.delete(polling)
      if (wasFull) wake()
    })
  }

  async function finished() {
    await Promise.all([...inFlight.values()].flatMap(place => [...place]))
  }

  // The account of a callback is known only after its attempt was read, so the fullest account decides.
  const roomForCallbacks = () =>
    Math.min(
      slots,
      ...deps.providerAccounts.names.map(provider_account => slots - slotsOf(provider_account, true).size),
    )

  const poller = {
    room: roomForCallbacks,
    lease: pollLease,
    opened: deps.providerAccounts.opened,
    poll: start,
  }
  return { step, finished, poller }
}

// Polls everything that is due now and waits for the end; returns how many there were.
export async function pollDue(deps: PaymentDeps, onTrouble: (error: unknown) => void): Promise<number> {
  const { step, finished } = createPollers(deps, { onTrouble, wake() {} })
  const found = await step()
  await finished()
  return found
}
