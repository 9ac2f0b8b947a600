import { hash } from 'node:crypto'
import type { Attempt } from '../../core/payment/attempt.ts'
import type { Cause } from '../../core/payment/event.ts'
import { failureWindowMs, maxFailures, type Refused } from '../../core/payment/mayStart.ts'
import type { Payment } from '../../core/payment/payment.ts'
import { firstPollAfter } from '../../core/payment/pollSchedule.ts'
import { type FieldFault, readFormFields } from '../../core/provider/formFields.ts'
import { newAttemptId } from '../../runtime/ids.ts'
import { databaseDeadline, inTime, withShortDeadline } from '../../runtime/inTime.ts'
import { type MethodSubject, methodsWithFields } from '../../runtime/providers/availableMethods.ts'
import type { GuardedAccount } from '../../runtime/providers/guard.ts'
import { network } from '../../runtime/rateLimits.ts'
import type { PaymentKey } from '../../store/payments/paymentKeys.ts'
import { startAttempt } from './callProvider.ts'
import { decisionsOn } from './decisions/decisions.ts'
import type { PaymentDeps } from './deps.ts'

// What somebody who pays has chosen and typed. `number` is the attempt that the form was made for: a form sent twice
// names the same one.
export type PayRequest = {
  number: number
  payment_method: string
  input: Readonly<Record<string, string>>
  cause: Cause & ('customer' | 'merchant')
  address: string | null // null: the merchant's own server asks, and the wallet alone is counted
  lang?: string // of the page: messages speak it
  askedLang?: string // chosen by hand: the way back from a provider's page leads to it
}

export type Paying =
  | { done: 'started' } // or it was there already: the same form came twice
  | { done: 'faults'; faults: FieldFault[] }
  | ({ done: 'refused' } & Refused)
  | { done: 'no_such_way' }

// Starts one attempt. It is stored before the provider hears of it. The provider's first answer is stored before ours
// is given, if it comes soon; else it goes on behind the page that waits. What is asked of the database before that has
// to be done by the deadline.
export async function pay(
  deps: PaymentDeps,
  payment: MethodSubject & Pick<Payment, 'tx_reference' | 'email' | 'name'>,
  request: PayRequest,
  deadline = databaseDeadline(),
): Promise<Paying> {
  const method = methodsWithFields(deps.providerAccounts.availableMethods(payment), payment).find(
    one => one.payment_method === request.payment_method,
  )
  const providerAccount = method && deps.providerAccounts.find(method.provider_account)
  if (!providerAccount) return { done: 'no_such_way' }
  const { given, instrument, faults } = readFormFields(method, request.input)
  if (faults.length > 0) return { done: 'faults', faults }
  const account_identity = deps.providerAccounts.identityOf(method.provider_account)
  const account = { name: method.provider_account, account_identity, guarded: providerAccount }
  const attempt = newAttempt(payment, account, request, given, instrument, deps.clock())
  const since = new Date(attempt.created_at.getTime() - failureWindowMs)
  const { merchant_id, tx_reference, mode } = payment
  const item = { merchant_id, tx_reference, attempt, cause: request.cause, since, most: maxFailures[mode] }
  const begun = await inTime(deadline, decisionsOn(deps.db).begin(item))
  if (begun.done !== 'begun') return begun
  if (begun.payment) await withShortDeadline(startAttempt(deps, begun.payment, attempt))
  return { done: 'started' }
}

const payerOf = (merchant_id: string, address: string) =>
  hash('sha256', `${merchant_id} ${network(address)}`, 'hex').slice(0, 32)

type ChosenAccount = { name: string; account_identity: string | null; guarded: GuardedAccount }

function newAttempt(
  { merchant_id, tx_reference, mode }: PaymentKey & Pick<Payment, 'mode'>,
  { name, account_identity, guarded }: ChosenAccount,
  request: PayRequest,
  given: Record<string, string>,
  instrument: string | null,
  now: Date,
): Attempt {
  const attempt_id = newAttemptId(merchant_id)
  const { payment_method } = request
  const { timing } = guarded.terms(payment_method)
  return {
    merchant_id,
    attempt_id,
    tx_reference,
    number: request.number,
    provider_account: name,
    mode,
    account_identity,
    idempotency_key: guarded.newIdempotencyKey(attempt_id),
    payment_method,
    state: 'started',
    reason: null,
    instrument,
    payer: request.address === null ? null : payerOf(merchant_id, request.address),
    lang: request.lang ?? null,
    given: request.askedLang ? { ...given, lang: request.askedLang } : given,
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
    polls: 0,
    next_poll_at: new Date(now.getTime() + firstPollAfter(timing)),
    created_at: now,
    updated_at: now,
    ended_at: null,
  }
}
