import { type Face, faceOf } from '../../core/merchant/face.ts'
import {
  readSettings,
  type SettingName,
  type Settings,
  unreadableSettings,
} from '../../core/merchant/settings.ts'
import { type Attempt, isUnresolved, requestEndsAt } from '../../core/payment/attempt.ts'
import { fromStore, type LineItem } from '../../core/payment/lineItems.ts'
import { type Obstacle, obstacle, secondsToWait } from '../../core/payment/mayStart.ts'
import { type Stage, stageOf } from '../../core/payment/stage.ts'
import type { Offer } from '../../runtime/channels.ts'
import { isToken, merchantOfToken } from '../../runtime/ids.ts'
import { findCheckout, type PaymentWithMerchant } from '../../store/payments/paymentLife.ts'
import type { PaymentDeps } from './deps.ts'

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
  offers: Offer[]
  testerPage: string | undefined // where a tester answers what is on its way
  requestEndsAt: Date | undefined // then nobody can approve what is on its way
}

export async function openCheckout(
  { db, channels, clock }: PaymentDeps,
  token: string,
): Promise<Checkout | undefined> {
  if (!isToken(token)) return undefined
  const found = await findCheckout(db.share('checkout'), merchantOfToken(token), token)
  if (!found) return undefined
  const { merchant_settings, logo, ...payment } = found
  const { attempts } = payment
  const now = clock()
  const open = attempts.find(isUnresolved)
  const line = open && channels.find(open.channel)
  const livesForMs = open && line?.livesForMs(open.payment_method)
  const settings = readSettings(merchant_settings)
  const against = obstacle(payment, attempts, { active: payment.merchant_active, settings }, now)
  return {
    ...payment,
    line_items: fromStore(payment.line_items),
    face: faceOf(payment.merchant_id, settings, logo),
    settings,
    unreadable: unreadableSettings(merchant_settings),
    stage: stageOf(payment, attempts, against),
    obstacle: against,
    seconds: secondsToWait(attempts, now),
    offers: channels.offers(payment.mode, payment.currency),
    testerPage: open && line?.testerPage?.(open.attempt_id),
    requestEndsAt: open && livesForMs !== undefined ? requestEndsAt(open, livesForMs) : undefined,
  }
}
