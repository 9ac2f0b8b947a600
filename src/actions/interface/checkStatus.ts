import { wrongTexts } from '../../core/interface/diagnosis/wrongTexts.ts'
import { fieldWarnings, statusNames } from '../../core/interface/fieldNames.ts'
import type { Fields } from '../../core/interface/json.ts'
import { malformed, missing, unknownInvoice } from '../../core/interface/refusal.ts'
import { isInvoiceId } from '../../core/interface/request.ts'
import { statusString } from '../../core/interface/signature.ts'
import type { StatusView } from '../../core/interface/statusRecord.ts'
import type { Warning } from '../../core/interface/warnings.ts'
import type { PaymentState } from '../../core/payment/payment.ts'
import type { Refund } from '../../core/refund/refund.ts'
import type { Batcher } from '../../runtime/batcher.ts'
import type { CallerCache, CallerLookup } from '../../runtime/callerCache.ts'
import { databaseDeadline, inTime } from '../../runtime/deadline.ts'
import type { RateLimits } from '../../runtime/rateLimits.ts'
import type { Caller } from '../../store/merchants/callers.ts'
import type { Db } from '../../store/db.ts'
import { refundsOfPayment } from '../../store/refunds/merchantRefunds.ts'
import type { InvoiceKey } from '../../store/payments/payments.ts'
import { authenticate, hashRefusal, mustBeReadable, withErrorsAs200 } from './authenticate.ts'
import { withFieldWarnings } from './requestWarnings.ts'

type StatusDeps = {
  db: Db
  callers: CallerCache
  limits: RateLimits
  lookups: Batcher<InvoiceKey, PaymentState | undefined>
}

export type StatusFields = Fields & { merchant_key?: unknown; invoice_id?: unknown; secure_hash?: unknown }
type StatusCheck = {
  payment: PaymentState
  refunds: readonly Refund[]
  view: StatusView
  warnings: readonly Warning[]
}

type Question = { fields: StatusFields; required: ReturnType<typeof requiredFields>; address: string }

const signedNames = ['invoice_id', 'merchant_key']

// The status of a payment. An unknown merchant and an unknown invoice get the same answer after the same work, so that
// neither can be guessed by its timing. Anyone can send an unsigned check, because merchant keys are in web pages, so its
// answer is masked.
export const checkStatus = (
  runtime: StatusDeps,
  fields: StatusFields,
  address: string,
): Promise<StatusCheck> =>
  withFieldWarnings(fields, statusNames, async () => {
    const required = requiredFields(fields)
    if (required.secure_hash === undefined) runtime.limits.guess(address)
    const deadline = databaseDeadline()
    const found = await runtime.callers.find(required.merchant_key)
    return withErrorsAs200(found.caller, () =>
      inTime(deadline, answer(runtime, { fields, required, address }, found)),
    )
  })

async function answer(
  runtime: StatusDeps,
  { fields, required: { merchant_key, invoice_id, secure_hash }, address }: Question,
  found: CallerLookup,
): Promise<StatusCheck> {
  if (found.caller) mustBeReadable(found.caller, 'status')
  const strings = [statusString(invoice_id, merchant_key)]
  const claim = {
    merchant_key,
    strings,
    hash: secure_hash,
    wrongTexts: () => wrongTexts(strings, signedNames, fields),
  }
  const isUnsigned = secure_hash === undefined
  const refuse = () => hashRefusal(runtime, found.caller, claim, unknownInvoice)
  const caller = isUnsigned
    ? found.caller
    : await authenticate(runtime, found, claim, 'status', address, refuse)
  const isRefused = isUnsigned && caller?.settings.signed_status_checks
  if (caller && !isRefused) limitRate(runtime.limits, caller, isUnsigned, address)
  const payment = await runtime.lookups.add(keyOf(isRefused ? undefined : caller, invoice_id))
  if (caller && payment) {
    if (isUnsigned) runtime.callers.used.add(merchant_key, caller.merchant_id)
    const { public_extra } = caller.settings
    const warnings = caller.mode === 'test' ? fieldWarnings(fields, statusNames) : []
    const refunds = payment.refunded_amount === null ? [] : await refundsOf(runtime, payment)
    return { payment, refunds, view: isUnsigned ? { public_extra } : 'whole', warnings }
  }
  if (!found.isFresh) await runtime.callers.findFresh(merchant_key) // as for an unknown one
  runtime.limits.failedLookup(address)
  throw isRefused ? await hashRefusal(runtime, caller, claim) : unknownInvoice()
}

// Only payments with refunds cost this statement.
const refundsOf = ({ db }: StatusDeps, payment: PaymentState) =>
  refundsOfPayment(db.withQuota('refunds').withDeadline(databaseDeadline()), payment)

const limitRate = (limits: RateLimits, caller: Caller, isUnsigned: boolean, address: string) =>
  isUnsigned ? limits.unsigned(caller, address) : limits.request(caller)

// If the client may not see the payment, a key that matches nothing is looked up, which takes as long.
const keyOf = (caller: Caller | undefined, invoice_id: string): InvoiceKey => ({
  merchant_id: caller?.merchant_id ?? '',
  mode: caller?.mode ?? 'test',
  invoice_id: isInvoiceId(invoice_id) ? invoice_id : '',
})

function requiredFields({ merchant_key, invoice_id, secure_hash }: StatusFields) {
  if (merchant_key === undefined || merchant_key === '') throw missing('merchant_key')
  if (invoice_id === undefined || invoice_id === '') throw missing('invoice_id')
  if (typeof merchant_key !== 'string') throw malformed('merchant_key', 'must be text')
  if (typeof invoice_id !== 'string') throw malformed('invoice_id', 'must be text')
  if (secure_hash !== undefined && typeof secure_hash !== 'string')
    throw malformed('secure_hash', 'must be text')
  return { merchant_key, invoice_id, secure_hash: secure_hash === '' ? undefined : secure_hash }
}
