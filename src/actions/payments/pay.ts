import { hash } from 'node:crypto'
import { readMerchantSettings } from '../../core/merchant/settings.ts'
import type { Attempt } from '../../core/payment/attempt.ts'
import type { Cause } from '../../core/payment/change.ts'
import { decideBegin } from '../../core/payment/customerActs.ts'
import {
  failureWindowMs,
  fillsCap,
  maxFailures,
  type Refused,
  secondsToCool,
  whyNotBegin,
} from '../../core/payment/mayStart.ts'
import type { Payment } from '../../core/payment/payment.ts'
import { firstPollAfter } from '../../core/payment/pollSchedule.ts'
import { type FieldFault, readFormFields } from '../../core/provider/formFields.ts'
import { newAttemptId } from '../../runtime/ids.ts'
import { databaseDeadline, inTime, withShortDeadline } from '../../runtime/deadline.ts'
import type { BeginItem, BeginResult } from '../../runtime/paymentDecisions.ts'
import { type MethodSubject, methodsWithFields } from '../../runtime/providers/availableMethods.ts'
import type { GuardedAccount } from '../../runtime/providers/guard.ts'
import { network } from '../../runtime/rateLimits.ts'
import type { PaymentDeps } from '../../runtime/runtime.ts'
import type { Tx } from '../../store/db.ts'
import { type LockMode, lockToBegin, type LockedToBegin } from '../../store/payments/locks.ts'
import { byPaymentName, type PaymentKey, paymentName } from '../../store/payments/paymentKeys.ts'
import { requireOriginal } from '../installation/requireOriginal.ts'
import { startAttempt } from './callProvider.ts'
import { type DecisionOutcome, oneFromEach, outcomeOf } from './groupTransactions.ts'
import { changeOf, type PaymentChange, type Write } from './writeChanges.ts'

// From the pay button to the database row:
// 1. `pay` reads the form and creates the attempt.
// 2. `decisions.begin` collects the attempts that begin at the same time (groupTransactions.ts) and calls `beginMany`. It
//    locks the payments and decides about each; `write` stores all changes with the commit (writeChanges.ts).
// 3. `startAttempt` sends the order to the provider (callProvider.ts).
// 4. `resolveAttempt` stores the reply in the same way as step 2, by `resolveMany`.

// The choice and the input of a payer. `number` is the attempt that the form was made for: a form that is sent twice has
// the same number.
export type PayRequest = {
  number: number
  payment_method: string
  input: Readonly<Record<string, string>>
  cause: Cause & ('customer' | 'merchant')
  address: string | null // null: the request comes from the merchant's server, and only the wallet is counted
  lang?: string // of the page; messages use it
  askedLang?: string // chosen by the payer; the return address from the provider's page has it
}

type PayResult =
  | { done: 'started' } // or it existed already: the same form was sent twice
  | { done: 'faults'; faults: FieldFault[] }
  | ({ done: 'refused' } & Refused)
  | { done: 'no_such_method' }

// Starts one attempt. It is stored before the order is sent to the provider. If the provider replies soon, the reply is stored
// before this returns; otherwise the call continues while the customer sees a waiting page. The deadline is for the database
// work before the order is sent.
export async function pay(
  deps: PaymentDeps,
  payment: MethodSubject & Pick<Payment, 'tx_reference' | 'email' | 'name'>,
  request: PayRequest,
  deadline = databaseDeadline(),
): Promise<PayResult> {
  requireOriginal(deps, payment.mode)
  const method = methodsWithFields(deps.providerAccounts.availableMethods(payment), payment).find(
    one => one.payment_method === request.payment_method,
  )
  const guarded = method && deps.providerAccounts.find(method.provider_account)
  if (!guarded) return { done: 'no_such_method' }
  const { given, instrument, faults } = readFormFields(method, request.input)
  if (faults.length > 0) return { done: 'faults', faults }
  const account_identity = deps.providerAccounts.identityOf(method.provider_account)
  const account = { name: method.provider_account, account_identity, guarded }
  const attempt = newAttempt(payment, account, request, given, instrument, deps.clock())
  const since = new Date(attempt.created_at.getTime() - failureWindowMs)
  const { merchant_id, tx_reference, mode } = payment
  const item = { merchant_id, tx_reference, attempt, cause: request.cause, since, most: maxFailures[mode] }
  const begun = await inTime(deadline, deps.decisions.begin(item))
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
    charged_currency: null,
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

// The caps that an attempt counts against, by wallet and by payer.
const capsOf = ({ merchant_id, attempt: { instrument, payer } }: BeginItem) => ({
  instrument: instrument === null ? undefined : `${merchant_id} instrument ${instrument}`,
  payer: payer === null ? undefined : `${merchant_id} payer ${payer}`,
})

// A transaction does not see the uncommitted rows of others, so transactions that run at once could each fill a cap. One
// process therefore never begins attempts of the same wallet or payer in two batches at once. Processes do not coordinate:
// with n nodes a burst can reach n times the cap within the time of one transaction. An item that is decided alone, because
// its payment was locked, can add one more while it runs beside a batch.
export const cappedBy = (item: BeginItem): string[] =>
  Object.values(capsOf(item)).filter(cap => cap !== undefined)

// Begins the attempts of many payments in one transaction. Run again after a lost commit, it finds the attempts that the
// first run has stored, and returns the same results.
export async function beginMany(tx: Tx, items: readonly BeginItem[], mode: LockMode, write: Write) {
  const firsts = oneFromEach(items)
  const locked = await lockToBegin(tx, firsts, mode)
  const payments = new Map(locked.map(payment => [paymentName(payment), payment]))
  const begun = new Map<string, PaymentChange>()
  const begunAt = new Map<string, Date[]>() // by cap, in the order of arrival
  const outcomes = new Map<BeginItem, DecisionOutcome<BeginResult>>()
  for (const item of items) {
    const payment = payments.get(paymentName(item))
    const change = begun.get(paymentName(item))
    if (payment && (change || firsts.includes(item)))
      outcomes.set(
        item,
        outcomeOf(() => decide(withBegun(payment, change), item, begun, begunAt)),
      )
  }
  await write([...begun.values()].toSorted((a, b) => byPaymentName(a.before, b.before)))
  return outcomes
}

// Clicks that arrive together find the attempt that the first of them has begun.
const withBegun = (payment: LockedToBegin, change: PaymentChange | undefined): LockedToBegin =>
  change?.newAttempt ? { ...payment, attempts: [...payment.attempts, change.newAttempt] } : payment

function decide(
  { attempts, failures, ...payment }: LockedToBegin,
  item: BeginItem,
  changes: Map<string, PaymentChange>,
  begunAt: Map<string, Date[]>,
): BeginResult {
  const { attempt, cause, most } = item
  const same = attempts.find(({ number }) => number === attempt.number)
  if (same) return { done: 'begun', payment: same.attempt_id === attempt.attempt_id ? payment : undefined }
  const now = attempt.created_at
  const merchant = {
    active: payment.merchant_active,
    settings: readMerchantSettings(payment.merchant_settings),
  }
  const refused = whyNotBegin(payment, attempts, merchant, attempt.number, now)
  if (refused) return { done: 'refused', ...refused }
  const caps = capsOf(item)
  const fills = (kind: keyof typeof caps) =>
    fillsCap(failures[kind], begunAt.get(caps[kind] ?? '') ?? [], most[kind])
  const seconds = secondsToCool({ instrument: fills('instrument'), payer: fills('payer') }, now)
  if (seconds > 0) return { done: 'refused', obstacle: 'too_many', seconds }
  const begun = decideBegin(payment, attempt, cause)
  changes.set(paymentName(payment), {
    ...changeOf(payment, begun.payment, begun.events),
    newAttempt: attempt,
  })
  for (const cap of cappedBy(item)) begunAt.set(cap, [...(begunAt.get(cap) ?? []), now])
  return { done: 'begun', payment: begun.payment }
}
