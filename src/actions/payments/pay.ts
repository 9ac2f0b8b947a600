import { hash } from 'node:crypto'
import { type Fault, readFormFields } from '../../core/channel/formFields.ts'
import type { Attempt } from '../../core/payment/attempt.ts'
import type { Cause } from '../../core/payment/event.ts'
import { failureWindowMs, maxFailures, type Refused } from '../../core/payment/mayStart.ts'
import type { Payment } from '../../core/payment/payment.ts'
import { firstPollAfter } from '../../core/payment/pollSchedule.ts'
import type { GuardedChannel } from '../../runtime/channels/guard.ts'
import { offersAsking } from '../../runtime/channels/offersAsking.ts'
import type { Offered } from '../../runtime/channels.ts'
import { newAttemptId } from '../../runtime/ids.ts'
import { databaseDeadline, forAMoment, inTime } from '../../runtime/inTime.ts'
import { network } from '../../runtime/rateLimits.ts'
import type { PaymentKey } from '../../store/payments/paymentKeys.ts'
import { startAttempt } from './askProvider.ts'
import { decisionsOn } from './decisions/decisions.ts'
import type { PaymentDeps } from './deps.ts'

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
  payment: Offered & Pick<Payment, 'tx_reference' | 'email' | 'name'>,
  wish: Wish,
  deadline = databaseDeadline(),
): Promise<Paying> {
  const way = offersAsking(deps.channels.offers(payment), payment).find(
    offer => offer.payment_method === wish.payment_method,
  )
  const channel = way && deps.channels.find(way.channel)
  if (!channel) return { done: 'no_such_way' }
  const { given, instrument, faults } = readFormFields(way, wish.typed)
  if (faults.length > 0) return { done: 'faults', faults }
  const account_identity = deps.channels.identityOf(way.channel)
  const line = { name: way.channel, account_identity, channel }
  const attempt = newAttempt(payment, line, wish, given, instrument, deps.clock())
  const since = new Date(attempt.created_at.getTime() - failureWindowMs)
  const { merchant_id, tx_reference, mode } = payment
  const item = { merchant_id, tx_reference, attempt, cause: wish.cause, since, most: maxFailures[mode] }
  const begun = await inTime(deadline, decisionsOn(deps.db).begin(item))
  if (begun.done !== 'begun') return begun
  if (begun.payment) await forAMoment(startAttempt(deps, begun.payment, attempt))
  return { done: 'started' }
}

const payerOf = (merchant_id: string, address: string) =>
  hash('sha256', `${merchant_id} ${network(address)}`, 'hex').slice(0, 32)

type ChosenAccount = { name: string; account_identity: string | null; channel: GuardedChannel }

function newAttempt(
  { merchant_id, tx_reference, mode }: PaymentKey & Pick<Payment, 'mode'>,
  { name, account_identity, channel }: ChosenAccount,
  wish: Wish,
  given: Record<string, string>,
  instrument: string | null,
  now: Date,
): Attempt {
  const attempt_id = newAttemptId(merchant_id)
  const { payment_method } = wish
  const { pace } = channel.terms(payment_method)
  return {
    merchant_id,
    attempt_id,
    tx_reference,
    number: wish.number,
    channel: name,
    mode,
    account_identity,
    order_key: channel.newKey(attempt_id),
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
    step: null,
    provider_text: null,
    charged: null,
    fee: null,
    net: null,
    provider_time: null,
    card_type: null,
    psp_response_code: null,
    psp_response_msg: null,
    provider_code: null,
    declined_at: null,
    check_reversals: false,
    acknowledged_at: null,
    sends: 1,
    resent_at: null,
    submits: 0,
    submitted_at: null,
    returned_at: null,
    gave_up_at: null,
    gave_up_for: null,
    asks: 0,
    next_ask_at: new Date(now.getTime() + firstPollAfter(pace)),
    created_at: now,
    updated_at: now,
    ended_at: null,
  }
}
