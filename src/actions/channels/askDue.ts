import type { OpenedIdentity } from '../../core/channel/accountIdentity.ts'
import {
  type AskLease,
  claimDueAttempts,
  type DueAttempt,
  type Room,
} from '../../store/payments/dueAttempts.ts'
import { askAttempt } from '../payments/askProvider.ts'
import type { PaymentDeps } from '../payments/deps.ts'
import type { Asker } from './knocks.ts'

// An ask and a resend of the most patient channel, and the time to write down what came of them.
const leaseMs = 5000 + 30_000 + 15_000
const slots = 50 // of one channel: so many knocks, and as many whose time has come

export const askLease = (now: Date): AskLease => ({ now, until: new Date(now.getTime() + leaseMs) })

export type Pollers = {
  step(): Promise<number> // takes what is due and has a slot; gives back how many
  knocks: Asker // takes what somebody knocks for in this process
  finished(): Promise<void> // what is under way has ended
}

type Options = { onTrouble(error: unknown): void; wake(): void } // there is room again where there was none

// Asks about attempts that are due. Each channel has slots of its own, so that a sick provider holds up its own attempts
// alone; and knocks have theirs, so that what a provider wants to tell does not wait behind what it does not answer.
// Attempts of accounts that are not open here are left to the nodes that have them: see overdueAttempts.ts.
export function createPollers(deps: PaymentDeps, { onTrouble, wake }: Options): Pollers {
  const db = deps.db.share('ask')
  const underWay = new Map<string, Set<Promise<void>>>()

  const placeOf = (channel: string, byKnock: boolean) => {
    const name = `${channel} ${byKnock ? 'knocks' : 'due'}`
    const place = underWay.get(name) ?? new Set()
    underWay.set(name, place)
    return place
  }
  const roomsOf = (opened: OpenedIdentity): Room[] =>
    [true, false].map(knocked => ({
      ...opened,
      knocked,
      most: slots - placeOf(opened.account, knocked).size,
    }))

  async function step() {
    const rooms = deps.channels
      .opened()
      .flatMap(roomsOf)
      .filter(({ most }) => most > 0)
    const due = rooms.length > 0 ? await claimDueAttempts(db, rooms, askLease(deps.clock())) : []
    for (const attempt of due) start(attempt)
    return due.length
  }

  function start({ by_knock, payment, ...attempt }: DueAttempt) {
    const place = placeOf(attempt.channel, by_knock)
    const asked = askAttempt(deps, attempt, payment).then(() => {}, onTrouble)
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
  const roomForKnocks = () =>
    Math.min(slots, ...deps.channels.names.map(channel => slots - placeOf(channel, true).size))

  const knocks = { room: roomForKnocks, lease: askLease, opened: deps.channels.opened, ask: start }
  return { step, finished, knocks }
}

// Asks about what is due now, to the end; gives back how many there were.
export async function askDue(deps: PaymentDeps, onTrouble: (error: unknown) => void): Promise<number> {
  const { step, finished } = createPollers(deps, { onTrouble, wake() {} })
  const found = await step()
  await finished()
  return found
}
