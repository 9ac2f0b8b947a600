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
import type { Returned } from '../../core/message/message.ts'
import { type Obstacle, obstacle, secondsToWait } from '../../core/payment/mayStart.ts'
import { returnedOf } from '../../core/refund/returned.ts'
import { isToken, merchantOfToken } from '../../runtime/ids.ts'
import { databaseDeadline, inTime } from '../../runtime/deadline.ts'
import { type AvailableMethod, methodsWithFields } from '../../runtime/providers/availableMethods.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { PaymentWithMerchant } from '../../store/payments/paymentLife.ts'
import { refundsOfPayment } from '../../store/refunds/merchantRefunds.ts'

// The payment of a checkout address, and everything that its page shows.
export type Checkout = Omit<PaymentWithMerchant, 'merchant_settings' | 'line_items'> & {
  line_items: readonly LineItem[] | null
  branding: Branding
  settings: MerchantSettings
  unreadable: readonly SettingName[]
  attempts: Attempt[]
  stage: Stage
  obstacle: Obstacle | undefined
  seconds: number // to wait before the next attempt
  methods: readonly AvailableMethod[]
  shut?: readonly string[] // the methods by which nothing is sent at the moment
  testerPage: string | undefined // where a tester approves or declines the unresolved attempt
  returned: readonly Returned[] // refunds that have succeeded
  requestEndsAt: Date | undefined // then the customer cannot approve the unresolved attempt any more
}

type CheckoutDeps = Pick<Runtime, 'db' | 'checkouts' | 'providerAccounts' | 'clock'>

// Requests that arrive together share one statement. It starts after all of them, so each sees what was stored before it.
export async function openCheckout(
  { db, checkouts, providerAccounts, clock }: CheckoutDeps,
  token: string,
  deadline = databaseDeadline(),
): Promise<Checkout | undefined> {
  if (!isToken(token)) return undefined
  const key = { merchant_id: merchantOfToken(token), tx_token: token }
  const found = await inTime(deadline, checkouts.add(key))
  if (!found) return undefined
  const refunds =
    found.refunded_amount === null
      ? []
      : await refundsOfPayment(db.withQuota('checkout').withDeadline(deadline), found)
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
    methods,
    shut: shutOf(methods, providerAccounts),
    returned: returnedOf(refunds),
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
