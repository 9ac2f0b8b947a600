import type { Mode } from '../mode.ts'
import type { Currency } from '../money.ts'
import { type AccountHealth, accountHealths } from './health.ts'
import type { AmountLimits, PaymentMethod } from './paymentMethod.ts'

// The facts of an account that decide which payments it serves.
export type AccountOnOffer = {
  account: string // its name
  provider: string
  mode: Mode
  merchant_id: string | null // null: the operator's
  isStored: boolean // in the database; an account in the environment has the name of its provider
  isDisabled: boolean
  fault?: string // why it cannot be opened
  methods: readonly PaymentMethod[] // empty if it was never opened
}

export type MethodQuery = {
  merchant_id: string
  mode: Mode
  currency: Currency
  providers: readonly string[] // accounts and providers that the merchant prefers, best first
  methods: readonly string[] // that the merchant offers; empty: all
  preferred: readonly string[] // by the operator
}

export type MethodCandidate = { account: string; method: PaymentMethod }
export type RankedCandidate = MethodCandidate & { health: AccountHealth }

// The accounts and methods that could serve a payment, best first, regardless of its amount and of the accounts' health.
// Test payments only reach test accounts, live payments only live accounts.
export function methodCandidates(accounts: readonly AccountOnOffer[], query: MethodQuery): MethodCandidate[] {
  const inMode = accounts.filter(one => one.mode === query.mode && !one.isDisabled)
  const own = inMode.filter(one => one.merchant_id === query.merchant_id)
  const serves = (one: AccountOnOffer, { payment_method, currencies }: PaymentMethod) =>
    currencies.includes(query.currency) &&
    (query.methods.length === 0 || query.methods.includes(payment_method)) &&
    (one.merchant_id !== null || !isClaimed(own, payment_method) || isNamed(one, own, query.providers)) &&
    !isSandboxSubstitute(one, inMode, payment_method, query)
  return inMode
    .filter(one => !one.fault && (one.merchant_id === null || one.merchant_id === query.merchant_id))
    .toSorted(byPreference(query))
    .flatMap(one =>
      one.methods.filter(method => serves(one, method)).map(method => ({ account: one.account, method })),
    )
}

// Money of a merchant must not reach the operator's account by accident. If the merchant's own account serves a method, in
// any currency and amount, the operator's accounts serve it only if the merchant's setting names them. An own account that
// never could be opened may serve any method.
const isClaimed = (own: readonly AccountOnOffer[], payment_method: string) =>
  own.some(
    ({ methods, fault }) =>
      (fault && methods.length === 0) || methods.some(method => method.payment_method === payment_method),
  )

// A provider's name means the merchant's own accounts there, or the operator's if the merchant has none.
const isNamed = (
  { account, provider, isStored }: AccountOnOffer,
  own: readonly AccountOnOffer[],
  names: readonly string[],
) =>
  (isStored && names.includes(account)) ||
  (names.includes(provider) && !own.some(one => one.provider === provider))

// The sandbox does not replace a provider that is named for a method, unless it is named as well: a test of an account that
// is down must show that.
function isSandboxSubstitute(
  { provider }: AccountOnOffer,
  inMode: readonly AccountOnOffer[],
  payment_method: string,
  { providers, preferred }: MethodQuery,
): boolean {
  const names = [...providers, ...preferred]
  if (provider !== 'sandbox' || names.includes('sandbox')) return false
  return inMode.some(
    one =>
      one.provider !== 'sandbox' &&
      (names.includes(one.account) || names.includes(one.provider)) &&
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

function placeIn(names: readonly string[], { account, provider }: AccountOnOffer): number {
  const at = names.findIndex(name => name === account || name === provider)
  return at < 0 ? names.length : at
}

export const isWithinLimits = (total: bigint, { least = 0n, most, step = 1n }: AmountLimits = {}) =>
  total >= least && (most === undefined || total <= most) && total % step === 0n

// One account for each method: the healthiest, and of equal ones the most preferred. An account that is down is selected if
// no other serves the method.
export function selectAccounts(candidates: readonly RankedCandidate[]): RankedCandidate[] {
  const chosen = new Map<string, RankedCandidate>()
  for (const one of candidates.toSorted((a, b) => rankOf(a) - rankOf(b)))
    if (!chosen.has(one.method.payment_method)) chosen.set(one.method.payment_method, one)
  return [...chosen.values()]
}

const rankOf = ({ health }: RankedCandidate) => accountHealths.indexOf(health)
