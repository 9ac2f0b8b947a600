import type { OpenedIdentity } from '../../core/provider/accountIdentity.ts'
import {
  type PollLease,
  claimDueAttempts,
  type DueAttempt,
  type Room,
} from '../../store/payments/dueAttempts.ts'
import { pollAttempt } from '../payments/callProvider.ts'
import type { PaymentDeps } from '../payments/deps.ts'
import type { Poller } from './callbacks.ts'

// An ask and a resend of the most patient provider, and the time to write down what came of them.
const leaseMs = 5000 + 30_000 + 15_000
const slots = 50 // of one provider: so many callbacks, and as many whose time has come

export const pollLease = (now: Date): PollLease => ({ now, until: new Date(now.getTime() + leaseMs) })

export type Pollers = {
  step(): Promise<number> // takes what is due and has a slot; gives back how many
  callbacks: Poller // takes what somebody callbacks for in this process
  finished(): Promise<void> // what is under way has ended
}

type Options = { onTrouble(error: unknown): void; wake(): void } // there is room again where there was none

// Asks about attempts that are due. Each provider has slots of its own, so that a sick provider holds up its own attempts
// alone; and callbacks have theirs, so that what a provider wants to tell does not wait behind what it does not answer.
// Attempts of accounts that are not open here are left to the nodes that have them: see overdueAttempts.ts.
export function createPollers(deps: PaymentDeps, { onTrouble, wake }: Options): Pollers {
  const db = deps.db.withQuota('ask')
  const underWay = new Map<string, Set<Promise<void>>>()

  const placeOf = (provider_account: string, byCallback: boolean) => {
    const name = `${provider_account} ${byCallback ? 'callbacks' : 'due'}`
    const place = underWay.get(name) ?? new Set()
    underWay.set(name, place)
    return place
  }
  const roomsOf = (opened: OpenedIdentity): Room[] =>
    [true, false].map(callback_received => ({
      ...opened,
      callback_received,
      most: slots - placeOf(opened.account, callback_received).size,
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
    const place = placeOf(attempt.provider_account, by_callback)
    const asked = pollAttempt(deps, attempt, payment).then(() => {}, onTrouble)
    place.add(asked)
    void asked.then(() => {
      const wasFull = place.size >= slots
      place.delete(asked)
      if (wasFull) wake()
    })
  }

  async function finished() {
    await Promise.all([...underWay.values()].flatMap(place => [...place]))
  }

  // Before it was read, nobody knows whose it is: it may be of the one that has the least room.
  const roomForCallbacks = () =>
    Math.min(
      slots,
      ...deps.providerAccounts.names.map(provider_account => slots - placeOf(provider_account, true).size),
    )

  const callbacks = {
    room: roomForCallbacks,
    lease: pollLease,
    opened: deps.providerAccounts.opened,
    poll: start,
  }
  return { step, finished, callbacks }
}

// Asks about what is due now, to the end; gives back how many there were.
export async function pollDue(deps: PaymentDeps, onTrouble: (error: unknown) => void): Promise<number> {
  const { step, finished } = createPollers(deps, { onTrouble, wake() {} })
  const found = await step()
  await finished()
  return found
}
