import { callDeadlineMs } from '../../runtime/channels.ts'
import { merchantOfToken } from '../../runtime/ids.ts'
import { promptAttempt } from '../../store/payments/attempts.ts'
import {
  channelsWithAttempts,
  claimDueAttempts,
  type DueAttempt,
  type Room,
} from '../../store/payments/dueAttempts.ts'
import { askAttempt } from './askProvider.ts'
import type { PaymentDeps } from './deps.ts'

const leaseMs = 2 * callDeadlineMs + 10_000 // an ask and a resend, and the time to write down what came of them
const slots = 50 // of one channel: so many knocks, and as many whose time has come
const strayRestMs = 600_000

export type Pollers = {
  step(): Promise<number> // takes what is due and has a slot; gives back how many
  finished(): Promise<void> // what is under way has ended
}

type Options = { onTrouble(error: unknown): void; wake(): void } // there is room again where there was none

// Asks about attempts that are due. Each channel has slots of its own, so that a sick provider holds up its own attempts
// alone; and knocks have theirs, so that what a provider wants to tell does not wait behind what it does not answer.
export function createPollers(given: PaymentDeps, { onTrouble, wake }: Options): Pollers {
  const deps = { ...given, db: given.db.share('ask') }
  const underWay = new Map<string, Set<Promise<void>>>()
  const strays = createStrays(deps, { onTrouble, wake })

  const placeOf = (channel: string, byKnock: boolean) => {
    const name = `${channel} ${byKnock ? 'knocks' : 'due'}`
    const place = underWay.get(name) ?? new Set()
    underWay.set(name, place)
    return place
  }
  const roomsOf = (channel: string): Room[] =>
    [true, false].map(knocked => ({ channel, knocked, most: slots - placeOf(channel, knocked).size }))

  async function step() {
    const rooms = [...deps.channels.names, ...strays.names()].flatMap(roomsOf).filter(({ most }) => most > 0)
    const now = deps.clock()
    const lease = { now, until: new Date(now.getTime() + leaseMs) }
    const due = rooms.length > 0 ? await claimDueAttempts(deps.db, rooms, lease) : []
    for (const attempt of due) start(attempt)
    return due.length
  }

  function start({ by_knock, ...attempt }: DueAttempt) {
    const place = placeOf(attempt.channel, by_knock)
    const asked = askAttempt(deps, attempt).then(() => {}, onTrouble)
    place.add(asked)
    void asked.then(() => {
      const wasFull = place.size >= slots
      place.delete(asked)
      if (wasFull) wake()
    })
  }

  async function finished() {
    await strays.looked()
    await Promise.all([...underWay.values()].flatMap(place => [...place]))
  }

  return { step, finished }
}

// Channels that were set up once and have attempts still: these are looked at too, so that a person hears of them.
// Nobody waits for that look.
function createStrays({ db, channels }: PaymentDeps, { onTrouble, wake }: Options) {
  let found: string[] = []
  let nextLook = 0
  let looking: Promise<void> | undefined

  async function look() {
    found = (await channelsWithAttempts(db)).filter(name => !channels.names.includes(name))
    if (found.length > 0) wake()
  }

  return {
    names() {
      const now = performance.now()
      if (now < nextLook) return found
      nextLook = now + strayRestMs
      looking = look().catch(onTrouble)
      return found
    },
    looked: async () => looking,
  }
}

// Asks about what is due now, to the end; gives back how many there were.
export async function askDue(deps: PaymentDeps, onTrouble: (error: unknown) => void): Promise<number> {
  const { step, finished } = createPollers(deps, { onTrouble, wake() {} })
  const found = await step()
  await finished()
  return found
}

// A provider knocked at the address that we gave it for one attempt. What it says is not believed: we ask.
export async function prompted(
  { db, clock }: Pick<PaymentDeps, 'db' | 'clock'>,
  attempt_id: string,
): Promise<boolean> {
  if (!/^[0-9a-z]{36}$/.test(attempt_id)) return false
  return promptAttempt(db.share('knock'), merchantOfToken(attempt_id), attempt_id, clock())
}
