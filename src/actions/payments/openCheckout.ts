import { type Stage, stageOf } from '../../core/checkout/stage.ts'
import { fromStore, type LineItem } from '../../core/lineItems.ts'
import { type Face, faceOf } from '../../core/merchant/face.ts'
import {
  readSettings,
  type SettingName,
  type Settings,
  unreadableSettings,
} from '../../core/merchant/settings.ts'
import { type Attempt, isUnresolved, requestEndsAt } from '../../core/payment/attempt.ts'
import { type Obstacle, obstacle, secondsToWait } from '../../core/payment/mayStart.ts'
import { offersAsking } from '../../runtime/channels/offersAsking.ts'
import type { Offer } from '../../runtime/channels.ts'
import { isToken, merchantOfToken } from '../../runtime/ids.ts'
import { databaseDeadline, inTime } from '../../runtime/inTime.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { PaymentWithMerchant } from '../../store/payments/paymentLife.ts'

// The payment behind a checkout address, and everything that its page shows.
export type Checkout = Omit<PaymentWithMerchant, 'merchant_settings' | 'line_items'> & {
  line_items: readonly LineItem[] | null
  face: Face
  settings: Settings
  unreadable: readonly SettingName[]
  attempts: Attempt[]
  stage: Stage
  obstacle: Obstacle | undefined
  seconds: number // to wait before the next try
  offers: readonly Offer[]
  shut?: readonly string[] // of these ways, those that nothing is sent by for the moment
  testerPage: string | undefined // where a tester answers what is on its way
  requestEndsAt: Date | undefined // then nobody can approve what is on its way
}

export type CheckoutDeps = Pick<Runtime, 'checkouts' | 'channels' | 'clock'>

// Whoever looks at the same time shares one look. It starts after all of them have asked, so each sees what was stored
// before it asked.
export async function openCheckout(
  { checkouts, channels, clock }: CheckoutDeps,
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
  const line = open && channels.findFor(open)
  const livesForMs = open && line?.terms(open.payment_method).livesForMs
  const settings = readSettings(merchant_settings)
  const offers = offersAsking(channels.offers({ ...found, settings }), found)
  const against = obstacle(found, attempts, { active: found.merchant_active, settings }, now)
  return {
    ...found,
    line_items: fromStore(found.line_items),
    face: faceOf(found.merchant_id, settings, logo),
    settings,
    unreadable: unreadableSettings(merchant_settings),
    stage: stageOf(found, attempts, against),
    obstacle: against,
    seconds: secondsToWait(attempts, now),
    offers,
    shut: shutOf(offers, channels),
    testerPage: open && line?.testerPage?.(open.attempt_id),
    requestEndsAt: open && livesForMs !== undefined ? requestEndsAt(open, livesForMs) : undefined,
  }
}

const shutOf = (offers: readonly Offer[], channels: CheckoutDeps['channels']) =>
  offers
    .filter(({ standing, channel }) => standing === 'down' && !channels.find(channel)?.mayStart())
    .map(({ payment_method }) => payment_method)
