import type { Mode } from '../mode.ts'
import type { Currency } from '../money.ts'
import type { AccountHealth } from './health.ts'
import type { AmountLimits, PaymentMethod } from './paymentMethod.ts'

// An account as far as it counts for who serves what.
export type AccountOnOffer = {
  account: string // its name
  provider: string
  mode: Mode
  merchant_id: string | null // null: the operator's
  isStored: boolean // else its settings stand in the environment, and it is called as its provider is
  isDisabled: boolean
  fault?: string // why it cannot be opened
  methods: readonly PaymentMethod[] // none are known of one that never was opened
}

export type MethodQuery = {
  merchant_id: string
  mode: Mode
  currency: Currency
  providers: readonly string[] // accounts and providers that the merchant prefers, best first
  methods: readonly string[] // that the merchant offers; none named: all
  preferred: readonly string[] // by the operator
}

export type MethodCandidate = { account: string; method: PaymentMethod }
export type RankedCandidate = MethodCandidate & { health: AccountHealth }

// Who could serve a payment in which way, best first, before anybody looks at its amount and at how the accounts do. Test
// payments reach accounts of test mode alone, live ones those of live mode.
export function methodCandidates(accounts: readonly AccountOnOffer[], asked: MethodQuery): MethodCandidate[] {
  const here = accounts.filter(one => one.mode === asked.mode && !one.isDisabled)
  const own = here.filter(one => one.merchant_id === asked.merchant_id)
  const serves = (one: AccountOnOffer, { payment_method, currencies }: PaymentMethod) =>
    currencies.includes(asked.currency) &&
    (asked.methods.length === 0 || asked.methods.includes(payment_method)) &&
    (one.merchant_id !== null || !isClaimed(own, payment_method) || isNamed(one, own, asked.providers)) &&
    !isPlayedInstead(one, here, payment_method, asked)
  return here
    .filter(one => !one.fault && (one.merchant_id === null || one.merchant_id === asked.merchant_id))
    .toSorted(byPreference(asked))
    .flatMap(one =>
      one.methods.filter(method => serves(one, method)).map(method => ({ account: one.account, method })),
    )
}

// Money must not land in another's account unsaid: what a merchant's own account serves, whatever the amount and the
// currency, the operator's serve only where the merchant's setting names them. One of its own that cannot be opened may
// serve anything.
const isClaimed = (own: readonly AccountOnOffer[], payment_method: string) =>
  own.some(
    ({ methods, fault }) =>
      (fault && methods.length === 0) || methods.some(method => method.payment_method === payment_method),
  )

// A provider's name means the merchant's own accounts of it, and the operator's where it has none.
const isNamed = (
  { account, provider, isStored }: AccountOnOffer,
  own: readonly AccountOnOffer[],
  words: readonly string[],
) =>
  (isStored && words.includes(account)) ||
  (words.includes(provider) && !own.some(one => one.provider === provider))

// The provider that we play ourselves stands in for nobody: where another is named for a way, it serves that only if it
// is named, too. Whoever tries an account that does badly must see that.
function isPlayedInstead(
  { provider }: AccountOnOffer,
  here: readonly AccountOnOffer[],
  payment_method: string,
  { providers, preferred }: MethodQuery,
): boolean {
  const words = [...providers, ...preferred]
  if (provider !== 'sandbox' || words.includes('sandbox')) return false
  return here.some(
    one =>
      one.provider !== 'sandbox' &&
      (words.includes(one.account) || words.includes(one.provider)) &&
      one.methods.some(method => method.payment_method === payment_method),
  )
}

const byPreference =
  ({ providers, preferred, mode }: MethodQuery) =>
  (a: AccountOnOffer, b: AccountOnOffer): number =>
    placeIn(providers, a) - placeIn(providers, b) ||
    Number(a.merchant_id === null) - Number(b.merchant_id === null) ||
    placeIn(preferred, a) - placeIn(preferred, b) ||
    (mode === 'test' ? Number(b.provider === 'sandbox') - Number(a.provider === 'sandbox') : 0) ||
    (a.account < b.account ? -1 : 1)

function placeIn(words: readonly string[], { account, provider }: AccountOnOffer): number {
  const at = words.findIndex(word => word === account || word === provider)
  return at < 0 ? words.length : at
}

export const isWithinLimits = (total: bigint, { least = 0n, most, step = 1n }: AmountLimits = {}) =>
  total >= least && (most === undefined || total <= most) && total % step === 0n

const ranks: Record<AccountHealth, number> = { healthy: 0, degraded: 1, down: 2 }

// One account for each way: the best of those that do well. Who does badly comes last, and is there all the same where
// nobody else serves the way.
export function selectAccounts(candidates: readonly RankedCandidate[]): RankedCandidate[] {
  const chosen = new Map<string, RankedCandidate>()
  for (const one of candidates.toSorted((a, b) => ranks[a.health] - ranks[b.health]))
    if (!chosen.has(one.method.payment_method)) chosen.set(one.method.payment_method, one)
  return [...chosen.values()]
}
