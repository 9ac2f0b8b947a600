import { type Stage, stageOf } from '../../core/checkout/stage.ts'
import { readStoredLineItems, type LineItem } from '../../core/lineItems.ts'
import { type Branding, brandingOf } from '../../core/merchant/branding.ts'
import {
  type MerchantSettings,
  readMerchantSettings,
  type SettingName,
  unreadableSettings,
} from '../../core/merchant/settings.ts'
import { type Attempt, isUnresolved, requestEndsAt } from '../../core/payment/attempt.ts'
import { type Obstacle, obstacle, secondsToWait } from '../../core/payment/mayStart.ts'
import { isToken, merchantOfToken } from '../../runtime/ids.ts'
import { databaseDeadline, inTime } from '../../runtime/inTime.ts'
import type { AvailableMethod } from '../../runtime/providers/availableMethods.ts'
import { methodsWithFields } from '../../runtime/providers/methodsWithFields.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { PaymentWithMerchant } from '../../store/payments/paymentLife.ts'

// The payment behind a checkout address, and everything that its page shows.
export type Checkout = Omit<PaymentWithMerchant, 'merchant_settings' | 'line_items'> & {
  line_items: readonly LineItem[] | null
  branding: Branding
  settings: MerchantSettings
  unreadable: readonly SettingName[]
  attempts: Attempt[]
  stage: Stage
  obstacle: Obstacle | undefined
  seconds: number // to wait before the next try
  methods: readonly AvailableMethod[]
  shut?: readonly string[] // of these ways, those that nothing is sent by for the moment
  testerPage: string | undefined // where a tester answers what is on its way
  requestEndsAt: Date | undefined // then nobody can approve what is on its way
}

export type CheckoutDeps = Pick<Runtime, 'checkouts' | 'providerAccounts' | 'clock'>

// Whoever looks at the same time shares one look. It starts after all of them have asked, so each sees what was stored
// before it asked.
export async function openCheckout(
  { checkouts, providerAccounts, clock }: CheckoutDeps,
  token: string,
  deadline = databaseDeadline(),
): Promise<Checkout | undefined> {
  if (!isToken(token)) return undefined
  const key = { merchant_id: merchantOfToken(token), tx_token: token }
  const found = await inTime(deadline, checkouts.add(key))
  if (!found) return undefined
  const { merchant_settings, logo, attempts } = found
  const now = clock()
  const open = attempts.find(isUnresolved)
  const account = open && providerAccounts.findFor(open)
  const lifetimeMs = open && account?.terms(open.payment_method).lifetimeMs
  const settings = readMerchantSettings(merchant_settings)
  const methods = methodsWithFields(providerAccounts.availableMethods({ ...found, settings }), found)
  const against = obstacle(found, attempts, { active: found.merchant_active, settings }, now)
  return {
    ...found,
    line_items: readStoredLineItems(found.line_items),
    branding: brandingOf(found.merchant_id, settings, logo),
    settings,
    unreadable: unreadableSettings(merchant_settings),
    stage: stageOf(found, attempts, against),
    obstacle: against,
    seconds: secondsToWait(attempts, now),
    methods: methods,
    shut: shutOf(methods, providerAccounts),
    testerPage: open && account?.testerPage?.(open.attempt_id),
    requestEndsAt: open && lifetimeMs !== undefined ? requestEndsAt(open, lifetimeMs) : undefined,
  }
}

const shutOf = (methods: readonly AvailableMethod[], providerAccounts: CheckoutDeps['providerAccounts']) =>
  methods
    .filter(
      ({ health, provider_account }) =>
        health === 'down' && !providerAccounts.find(provider_account)?.mayStart(),
    )
    .map(({ payment_method }) => payment_method)
