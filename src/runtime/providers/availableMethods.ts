import {
  type MethodCandidate,
  methodCandidates,
  selectAccounts,
  isWithinLimits,
} from '../../core/provider/selectAccounts.ts'
import type { AccountHealth } from '../../core/provider/health.ts'
import type { TestEnding, PaymentMethod } from '../../core/provider/paymentMethod.ts'
import type { MerchantSettings } from '../../core/merchant/settings.ts'
import type { Payment } from '../../core/payment/payment.ts'
import type { OpenedAccount } from './accounts.ts'
import type { HealthReader } from './healthMonitor.ts'

// A payment method with the name of the account that serves it, how that does, and the endings that a tester has there where
// it plays.
export type AvailableMethod = PaymentMethod & {
  provider_account: string
  health: AccountHealth
  testEndings?: readonly TestEnding[]
}

// What decides which ways a payment has. Without settings the merchant has chosen nothing.
export type MethodSubject = Pick<Payment, 'merchant_id' | 'mode' | 'currency' | 'total'> & {
  settings?: Pick<MerchantSettings, 'providers' | 'payment_methods'>
}

const nothingChosen = { providers: [], payment_methods: [] }

const mostKept = 1000 // merchants with choices of their own, and answers; then the oldest goes

// Every page asks, so what follows from the accounts and the merchant's choices is reckoned once. The same answer is the
// very same array each time: pages keep what they drew of it. All of it goes when an account changes.
export function createMethodSelection(
  accounts: readonly OpenedAccount[],
  preferred: readonly string[],
  health: HealthReader,
) {
  const byName = new Map(accounts.map(one => [one.account, one]))
  const owners = new Set(accounts.map(one => one.merchant_id))
  const plans = new Map<string, readonly MethodCandidate[]>()
  const answers = new Map<string, readonly AvailableMethod[]>()

  function planOf({
    merchant_id,
    mode,
    currency,
    settings: { providers, payment_methods } = nothingChosen,
  }: MethodSubject) {
    const whose = owners.has(merchant_id) ? merchant_id : ''
    return kept(plans, `${whose} ${mode} ${currency} ${providers.join()} ${payment_methods.join()}`, () =>
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

  return function offers(payment: MethodSubject): readonly AvailableMethod[] {
    let key: string = payment.currency
    const able: (MethodCandidate & { health: AccountHealth })[] = []
    for (const { account, method } of planOf(payment))
      if (isWithinLimits(payment.total, method.limits?.[payment.currency])) {
        const accountHealth = health.of(account, method.payment_method)
        able.push({ account, method, health: accountHealth })
        key += `,${account} ${method.payment_method} ${accountHealth}`
      }
    return kept(answers, key, () =>
      selectAccounts(able).map(({ account, method, health: accountHealth }) => ({
        ...method,
        provider_account: account,
        health: accountHealth,
        ...endingsOf(method, byName.get(account)),
      })),
    )
  }
}

function kept<Value>(known: Map<string, Value>, key: string, make: () => Value): Value {
  const before = known.get(key)
  if (before !== undefined) return before
  const made = make()
  known.set(key, made)
  if (known.size > mostKept) known.delete(known.keys().next().value as string)
  return made
}

// Nobody plays with real money, whatever a provider says.
function endingsOf({ payment_method }: PaymentMethod, account: OpenedAccount | undefined) {
  const testEndings = account?.opened?.testEndings
  if (account?.mode !== 'test' || !testEndings) return {}
  return { testEndings: testEndings.filter(ending => ending.payment_method === payment_method) }
}
