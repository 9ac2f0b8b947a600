import { hash } from 'node:crypto'
import { type Fault, readFormFields } from '../../core/channel/formFields.ts'
import { readSettings } from '../../core/merchant/settings.ts'
import type { Attempt } from '../../core/payment/attempt.ts'
import { begin } from '../../core/payment/begin.ts'
import type { Cause } from '../../core/payment/event.ts'
import {
  failureWindowMs,
  maxFailures,
  type Refused,
  secondsToCool,
  whyNotStart,
} from '../../core/payment/mayStart.ts'
import type { Payment } from '../../core/payment/payment.ts'
import { firstPollMs } from '../../core/payment/pollSchedule.ts'
import type { Offer } from '../../runtime/channels.ts'
import { newAttemptId } from '../../runtime/ids.ts'
import { databaseDeadline, forAMoment } from '../../runtime/inTime.ts'
import { network } from '../../runtime/rateLimits.ts'
import type { Tx } from '../../store/db.ts'
import { attemptsOf, countFailures, insertAttempt } from '../../store/payments/attempts.ts'
import type { PaymentKey } from '../../store/payments/paymentKeys.ts'
import { lockPayment, type PaymentWithMerchant } from '../../store/payments/paymentLife.ts'
import { startAttempt } from './askProvider.ts'
import type { PaymentDeps } from './deps.ts'
import { savePaymentChange } from './saveChange.ts'

// What somebody who pays has chosen and typed. `number` is the attempt that the form was made for: a form sent twice
// names the same one.
export type Wish = {
  number: number
  payment_method: string
  typed: Readonly<Record<string, string>>
  cause: Cause & ('customer' | 'merchant')
  address: string | null // null: the merchant's own server asks, and the wallet alone is counted
  lang?: string // of the page: messages speak it
  askedLang?: string // chosen by hand: the way back from a provider's page leads to it
}

export type Paying =
  | { done: 'started' } // or it was there already: the same form came twice
  | { done: 'faults'; faults: Fault[] }
  | ({ done: 'refused' } & Refused)
  | { done: 'no_such_way' }

// Starts one attempt. It is stored before the provider hears of it. The provider's first answer is stored before ours
// is given, if it comes soon; else it goes on behind the page that waits. What is asked of the database before that has
// to be done by the deadline.
export async function pay(
  deps: PaymentDeps,
  payment: Pick<Payment, 'merchant_id' | 'tx_reference' | 'mode' | 'currency'>,
  wish: Wish,
  deadline = databaseDeadline(),
): Promise<Paying> {
  const way = deps.channels
    .offers(payment.mode, payment.currency)
    .find(offer => offer.payment_method === wish.payment_method)
  if (!way) return { done: 'no_such_way' }
  const { given, instrument, faults } = readFormFields(way, wish.typed)
  if (faults.length > 0) return { done: 'faults', faults }
  const attempt = newAttempt(payment, way, wish, given, instrument, deps.clock())
  const db = deps.db.share('pay').until(deadline)
  const begun = await db.transaction(tx => store(tx, attempt, wish.cause))
  if (begun.done !== 'begun') return begun
  if (begun.payment) await forAMoment(startAttempt(deps, begun.payment, attempt))
  return { done: 'started' }
}

type Begun = Paying | { done: 'begun'; payment?: PaymentWithMerchant }

// One transaction. Run again after a lost commit, it finds its own attempt and goes on.
async function store(tx: Tx, attempt: Attempt, cause: Cause): Promise<Begun> {
  const payment = await lockPayment(tx, attempt)
  if (!payment) throw new Error('an attempt without its payment')
  const attempts = await attemptsOf(tx, payment.merchant_id, payment.tx_reference)
  const same = attempts.find(({ number }) => number === attempt.number)
  if (same) return { done: 'begun', payment: same.attempt_id === attempt.attempt_id ? payment : undefined }
  const now = attempt.created_at
  const merchant = { active: payment.merchant_active, settings: readSettings(payment.merchant_settings) }
  const refused = whyNotStart(payment, attempts, merchant, attempt.number, now)
  if (refused) return { done: 'refused', ...refused }
  const seconds = await tooManyFailures(tx, payment, attempt)
  if (seconds > 0) return { done: 'refused', obstacle: 'too_many', seconds }
  await insertAttempt(tx, attempt)
  const begun = begin(payment, attempt, cause)
  await savePaymentChange(tx, payment, begun.payment, begun.events)
  return { done: 'begun', payment: begun.payment }
}

// The seconds to wait, or 0.
async function tooManyFailures(tx: Tx, { mode }: Payment, attempt: Attempt): Promise<number> {
  const now = attempt.created_at
  const since = new Date(now.getTime() - failureWindowMs)
  return secondsToCool(await countFailures(tx, attempt, maxFailures[mode], since), now)
}

const payerOf = (merchant_id: string, address: string) =>
  hash('sha256', `${merchant_id} ${network(address)}`, 'hex').slice(0, 32)

function newAttempt(
  { merchant_id, tx_reference }: PaymentKey,
  { channel, payment_method }: Offer,
  wish: Wish,
  given: Record<string, string>,
  instrument: string | null,
  now: Date,
): Attempt {
  return {
    merchant_id,
    attempt_id: newAttemptId(merchant_id),
    tx_reference,
    number: wish.number,
    channel,
    payment_method,
    state: 'started',
    reason: null,
    instrument,
    payer: wish.address === null ? null : payerOf(merchant_id, wish.address),
    lang: wish.lang ?? null,
    given: wish.askedLang ? { ...given, lang: wish.askedLang } : given,
    provider_ref: null,
    redirect_url: null,
    qr: null,
    charged: null,
    card_type: null,
    psp_response_code: null,
    psp_response_msg: null,
    acknowledged_at: null,
    sends: 1,
    resent_at: null,
    returned_at: null,
    gave_up_at: null,
    gave_up_for: null,
    asks: 0,
    next_ask_at: new Date(now.getTime() + firstPollMs),
    created_at: now,
    updated_at: now,
    ended_at: null,
  }
}
