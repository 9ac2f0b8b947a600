// How an account at a provider does for one payment method, by what was seen in the last minutes. Time is monotonic
// milliseconds.
export const accountHealths = ['healthy', 'degraded', 'down'] as const
export type AccountHealth = (typeof accountHealths)[number]

export const windowMs = 180_000
const sliceMs = 10_000 // the window moves by so much

// What was seen. A customer's no (`declined`) is a success of the account.
export type CallCounts = {
  answered: number
  late: number // of them, those after more than half of the time that they had
  unanswered: number // the answer was no answer, came too late, or the call could not leave
  paid: number
  declined: number // by the customer, or for a reason of the customer's
  troubled: number // ended for a reason of the account or of its provider
  delays: readonly number[] // of what was answered: how many within each of `delayBoundsMs`, and above the last
}

export const delayBoundsMs = [50, 100, 250, 500, 1000, 2000, 3000, 5000, 10_000, 20_000, 30_000]

export const noCalls: CallCounts = {
  answered: 0,
  late: 0,
  unanswered: 0,
  paid: 0,
  declined: 0,
  troubled: 0,
  delays: [...delayBoundsMs, Infinity].map(() => 0),
}

export type CallOutcome =
  | { what: 'answered'; delayMs: number; isLate: boolean }
  | { what: 'unanswered' | 'paid' | 'declined' | 'troubled' }

function withSeen(tally: CallCounts, seen: CallOutcome): CallCounts {
  if (seen.what !== 'answered') return { ...tally, [seen.what]: tally[seen.what] + 1 }
  const place = delayBoundsMs.findIndex(bound => seen.delayMs <= bound)
  const at = place < 0 ? delayBoundsMs.length : place
  const delays = tally.delays.map((count, bucket) => (bucket === at ? count + 1 : count))
  return { ...tally, answered: tally.answered + 1, late: tally.late + (seen.isLate ? 1 : 0), delays }
}

export const sumCounts = (tallies: readonly CallCounts[]): CallCounts =>
  tallies.reduce(
    (sum, one) => ({
      answered: sum.answered + one.answered,
      late: sum.late + one.late,
      unanswered: sum.unanswered + one.unanswered,
      paid: sum.paid + one.paid,
      declined: sum.declined + one.declined,
      troubled: sum.troubled + one.troubled,
      delays: sum.delays.map((count, at) => count + (one.delays[at] ?? 0)),
    }),
    noCalls,
  )

// The last minutes, in slices: so it has a bound, however much is going on.
export type CallWindow = readonly { number: number; tally: CallCounts }[]

const numberOf = (now: number) => Math.floor(now / sliceMs)
const current = (window: CallWindow, now: number) =>
  window.filter(({ number }) => number > numberOf(now - windowMs))

export function countCall(window: CallWindow, seen: CallOutcome, now: number): CallWindow {
  const number = numberOf(now)
  const others = current(window, now).filter(slice => slice.number !== number)
  const ours = window.find(slice => slice.number === number)?.tally ?? noCalls
  return [...others, { number, tally: withSeen(ours, seen) }]
}

export const countsOf = (window: CallWindow, now: number): CallCounts =>
  sumCounts(current(window, now).map(({ tally }) => tally))

const callsOf = ({ answered, unanswered }: CallCounts) => answered + unanswered
const endingsOf = ({ paid, declined, troubled }: CallCounts) => paid + declined + troubled

// The first that holds counts. `least`: before so many were seen, nobody is judged.
const rules: readonly {
  says: AccountHealth
  bad(tally: CallCounts): number
  of(tally: CallCounts): number
  share: number
  least: number
}[] = [
  { says: 'down', bad: ({ unanswered }) => unanswered, of: callsOf, share: 0.6, least: 5 },
  { says: 'down', bad: ({ troubled }) => troubled, of: endingsOf, share: 0.5, least: 4 },
  { says: 'degraded', bad: ({ unanswered, late }) => unanswered + late, of: callsOf, share: 0.25, least: 5 },
  { says: 'degraded', bad: ({ troubled }) => troubled, of: endingsOf, share: 0.2, least: 4 },
]

export const healthOf = (tally: CallCounts): AccountHealth =>
  rules.find(({ bad, of, share, least }) => of(tally) >= least && bad(tally) >= share * of(tally))?.says ??
  'healthy'

// Whoever is worse off decides.
export const worseHealth = (one: AccountHealth, other: AccountHealth): AccountHealth =>
  accountHealths.indexOf(one) > accountHealths.indexOf(other) ? one : other

// The delay that this share of the answers kept to, up to the bound of its bucket; undefined where there were none.
export function delayWithin({ delays, answered }: CallCounts, share: number): number | undefined {
  if (answered === 0) return undefined
  let so = 0
  const at = delays.findIndex(count => (so += count) >= share * answered)
  return delayBoundsMs[at] ?? Infinity
}

// Reasons of a no that are not the customer's.
const providerReasons: ReadonlySet<string> = new Set(['account_trouble', 'network_error', 'never_arrived'])

// Not counted: calls that could not leave are counted as such, and a refusal for an unknown reason says nothing about the
// account.
const uncountedReasons: ReadonlySet<string> = new Set(['not_sent', 'refused'])

export const callOutcomeOf = (
  state: string,
  reason: string | null,
): 'paid' | 'declined' | 'troubled' | undefined => {
  if (state === 'paid') return 'paid'
  if (state !== 'failed' || uncountedReasons.has(reason ?? '')) return undefined
  return providerReasons.has(reason ?? '') ? 'troubled' : 'declined'
}
