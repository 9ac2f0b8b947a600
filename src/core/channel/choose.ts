import type { Mode } from '../mode.ts'
import type { Currency } from '../money.ts'
import type { Standing } from './standing.ts'
import type { Limits, Way } from './way.ts'

// An account as far as it counts for who serves what.
export type Serving = {
  account: string // its name
  channel: string
  mode: Mode
  merchant_id: string | null // null: the operator's
  isStored: boolean // else its settings stand in the environment, and it is called as its channel is
  isDisabled: boolean
  fault?: string // why it cannot be opened
  ways: readonly Way[] // none are known of one that never was opened
}

export type Asked = {
  merchant_id: string
  mode: Mode
  currency: Currency
  channels: readonly string[] // accounts and channels that the merchant prefers, best first
  ways: readonly string[] // that the merchant offers; none named: all
  preferred: readonly string[] // by the operator
}

export type Candidate = { account: string; way: Way }
export type Chosen = Candidate & { standing: Standing }

// Who could serve a payment in which way, best first, before anybody looks at its amount and at how the accounts do. Test
// payments reach accounts of test mode alone, live ones those of live mode.
export function candidatesFor(accounts: readonly Serving[], asked: Asked): Candidate[] {
  const here = accounts.filter(one => one.mode === asked.mode && !one.isDisabled)
  const own = here.filter(one => one.merchant_id === asked.merchant_id)
  const serves = (one: Serving, { payment_method, currencies }: Way) =>
    currencies.includes(asked.currency) &&
    (asked.ways.length === 0 || asked.ways.includes(payment_method)) &&
    (one.merchant_id !== null || !isClaimed(own, payment_method) || isNamed(one, own, asked.channels)) &&
    !isPlayedInstead(one, here, payment_method, asked)
  return here
    .filter(one => !one.fault && (one.merchant_id === null || one.merchant_id === asked.merchant_id))
    .toSorted(byPreference(asked))
    .flatMap(one => one.ways.filter(way => serves(one, way)).map(way => ({ account: one.account, way })))
}

// Money must not land in another's account unsaid: what a merchant's own account serves, whatever the amount and the
// currency, the operator's serve only where the merchant's setting names them. One of its own that cannot be opened may
// serve anything.
const isClaimed = (own: readonly Serving[], payment_method: string) =>
  own.some(
    ({ ways, fault }) =>
      (fault && ways.length === 0) || ways.some(way => way.payment_method === payment_method),
  )

// A channel's name means the merchant's own accounts of it, and the operator's where it has none.
const isNamed = (
  { account, channel, isStored }: Serving,
  own: readonly Serving[],
  words: readonly string[],
) =>
  (isStored && words.includes(account)) ||
  (words.includes(channel) && !own.some(one => one.channel === channel))

// The provider that we play ourselves stands in for nobody: where another is named for a way, it serves that only if it
// is named, too. Whoever tries an account that does badly must see that.
function isPlayedInstead(
  { channel }: Serving,
  here: readonly Serving[],
  payment_method: string,
  { channels, preferred }: Asked,
): boolean {
  const words = [...channels, ...preferred]
  if (channel !== 'sandbox' || words.includes('sandbox')) return false
  return here.some(
    one =>
      one.channel !== 'sandbox' &&
      (words.includes(one.account) || words.includes(one.channel)) &&
      one.ways.some(way => way.payment_method === payment_method),
  )
}

const byPreference =
  ({ channels, preferred, mode }: Asked) =>
  (a: Serving, b: Serving): number =>
    placeIn(channels, a) - placeIn(channels, b) ||
    Number(a.merchant_id === null) - Number(b.merchant_id === null) ||
    placeIn(preferred, a) - placeIn(preferred, b) ||
    (mode === 'test' ? Number(b.channel === 'sandbox') - Number(a.channel === 'sandbox') : 0) ||
    (a.account < b.account ? -1 : 1)

function placeIn(words: readonly string[], { account, channel }: Serving): number {
  const at = words.findIndex(word => word === account || word === channel)
  return at < 0 ? words.length : at
}

export const fits = (total: bigint, { least = 0n, most, step = 1n }: Limits = {}) =>
  total >= least && (most === undefined || total <= most) && total % step === 0n

const ranks: Record<Standing, number> = { good: 0, slow: 1, down: 2 }

// One account for each way: the best of those that do well. Who does badly comes last, and is there all the same where
// nobody else serves the way.
export function choose(candidates: readonly Chosen[]): Chosen[] {
  const chosen = new Map<string, Chosen>()
  for (const one of candidates.toSorted((a, b) => ranks[a.standing] - ranks[b.standing]))
    if (!chosen.has(one.way.payment_method)) chosen.set(one.way.payment_method, one)
  return [...chosen.values()]
}
