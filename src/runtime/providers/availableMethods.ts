import type { MerchantSettings } from '../../core/merchant/settings.ts'
import type { Payment } from '../../core/payment/payment.ts'
import { fieldsToAsk, type KnownPayer } from '../../core/provider/formFields.ts'
import type { AccountHealth } from '../../core/provider/health.ts'
import type { PaymentMethod, TestEnding } from '../../core/provider/paymentMethod.ts'
import {
  isWithinLimits,
  type MethodCandidate,
  methodCandidates,
  type RankedCandidate,
  selectAccounts,
} from '../../core/provider/selectAccounts.ts'
import type { OpenedAccount } from './accounts.ts'
import type { HealthMonitors } from './healthMonitor.ts'

// A payment method with the account that serves it, its health, and the test endings of a simulated provider.
export type AvailableMethod = PaymentMethod & {
  provider_account: string
  health: AccountHealth
  testEndings?: readonly TestEnding[]
}

// What the methods of a payment depend on. Without settings the merchant has no preferences.
export type MethodSubject = Pick<Payment, 'merchant_id' | 'mode' | 'currency' | 'total'> & {
  settings?: Pick<MerchantSettings, 'providers' | 'payment_methods'>
}

const noPreferences = { providers: [], payment_methods: [] }

const mostCached = 1000 // of each cache; then the oldest entry is removed

// Selects the payment methods of a payment. Every page calls it, so results are cached; equal results are the same array,
// because pages cache what they rendered of it. A new selection is created when an account changes.
export function createMethodSelection(
  accounts: readonly OpenedAccount[],
  preferred: readonly string[],
  monitors?: Pick<HealthMonitors, 'of'>, // without them all accounts are healthy
) {
  const byName = new Map(accounts.map(one => [one.account, one]))
  const owners = new Set(accounts.map(one => one.merchant_id))
  const candidates = new Map<string, readonly MethodCandidate[]>()
  const results = new Map<string, readonly AvailableMethod[]>()

  function candidatesOf({
    merchant_id,
    mode,
    currency,
    settings: { providers, payment_methods } = noPreferences,
  }: MethodSubject) {
    const owner = owners.has(merchant_id) ? merchant_id : ''
    return cached(
      candidates,
      `${owner} ${mode} ${currency} ${providers.join()} ${payment_methods.join()}`,
      () =>
        methodCandidates(accounts, {
          merchant_id,
          mode,
          currency,
          providers,
          methods: payment_methods,
          preferred,
        }),
    )
  }

  return (payment: MethodSubject): readonly AvailableMethod[] => {
    let key: string = payment.currency
    const able: RankedCandidate[] = []
    for (const { account, method } of candidatesOf(payment))
      if (isWithinLimits(payment.total, method.limits?.[payment.currency])) {
        const health = monitors?.of(account, method.payment_method) ?? 'healthy'
        able.push({ account, method, health })
        key += `,${account} ${method.payment_method} ${health}`
      }
    return cached(results, key, () =>
      selectAccounts(able).map(({ account, method, health }) => ({
        ...method,
        provider_account: account,
        health,
        ...endingsOf(method, byName.get(account)),
      })),
    )
  }
}

function cached<Value>(cache: Map<string, Value>, key: string, compute: () => Value): Value {
  const found = cache.get(key)
  if (found !== undefined) return found
  const value = compute()
  cache.set(key, value)
  if (cache.size > mostCached) cache.delete(cache.keys().next().value as string)
  return value
}

// Live accounts have no test endings, whatever the provider states.
function endingsOf({ payment_method }: PaymentMethod, account: OpenedAccount | undefined) {
  const testEndings = account?.opened?.testEndings
  if (account?.mode !== 'test' || !testEndings) return {}
  return { testEndings: testEndings.filter(ending => ending.payment_method === payment_method) }
}

const withFields = new WeakMap<readonly AvailableMethod[], Map<string, readonly AvailableMethod[]>>()

// The methods with the fields that this customer has to fill in. Equal calls return the same array, because pages cache what
// they rendered of it.
export function methodsWithFields(
  methods: readonly AvailableMethod[],
  known: KnownPayer,
): readonly AvailableMethod[] {
  const byPayer = withFields.get(methods) ?? new Map<string, readonly AvailableMethod[]>()
  const key = `${Boolean(known.email)} ${Boolean(known.name)}`
  const found =
    byPayer.get(key) ?? methods.map(method => ({ ...method, fields: fieldsToAsk(method.fields, known) }))
  withFields.set(methods, byPayer.set(key, found))
  return found
}
