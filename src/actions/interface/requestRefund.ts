import { wrongTexts } from '../../core/interface/diagnosis/wrongTexts.ts'
import {
  type FieldNames,
  fieldWarnings,
  refundCheckNames,
  refundNames,
} from '../../core/interface/fieldNames.ts'
import type { Fields } from '../../core/interface/json.ts'
import {
  isRefundId,
  readRefundAmount,
  readRefundCheck,
  type RefundCheckFields,
  readRefundFields,
  readRefundReason,
  refundIdFault,
  refundRefusal,
} from '../../core/interface/refundRequest.ts'
import { deactivated, unknownInvoice, unknownRefund } from '../../core/interface/refusal.ts'
import { isInvoiceId, presentFields } from '../../core/interface/request.ts'
import { refundCheckString, refundString } from '../../core/interface/signature.ts'
import type { Warning } from '../../core/interface/warnings.ts'
import type { Refund } from '../../core/refund/refund.ts'
import { databaseDeadline, inTime } from '../../runtime/deadline.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Caller } from '../../store/merchants/callers.ts'
import { findRefundById } from '../../store/refunds/merchantRefunds.ts'
import { createRefund } from '../refunds/createRefund.ts'
import { authenticate, hashRefusal, mustBeReadable, withErrorsAs200 } from './authenticate.ts'
import { withFieldWarnings } from './requestWarnings.ts'

export type RefundAnswer = { refund: Refund; warnings: readonly Warning[] }

// A merchant refunds a payment, or a part of it. The same refund_id with the same fields returns the same refund.
export const requestRefund = (runtime: Runtime, sent: Fields, address: string): Promise<RefundAnswer> =>
  withRefundCaller(runtime, sent, address, refundRequest, async ({ caller, fields, warnings, deadline }) => {
    if (!caller.active) throw deactivated()
    const { invoice_id, refund_id } = fields
    if (!isRefundId(refund_id)) throw refundIdFault()
    const reason = readRefundReason(fields.reason)
    const { merchant_id, mode } = caller
    const payment = isInvoiceId(invoice_id)
      ? await inTime(deadline, runtime.lookups.add({ merchant_id, mode, invoice_id }))
      : undefined
    if (!payment) throw unknownInvoice()
    const { currency } = payment
    const amount = readRefundAmount(fields.amount, currency)
    const result = await createRefund(runtime, {
      merchant_id,
      mode,
      payment: { invoice_id },
      refund_id,
      amount,
      source: 'payment',
      reason,
      by: { requested_by: 'merchant' },
    })
    if ('fault' in result) throw refundRefusal(result, { invoice_id, amount, reason, currency, mode })
    return { refund: result.refund, warnings }
  })

// The refund with this refund_id, as it is now.
export const checkRefundOf = (runtime: Runtime, sent: Fields, address: string): Promise<RefundAnswer> =>
  withRefundCaller(runtime, sent, address, refundCheck, async ({ caller, fields, warnings, deadline }) => {
    const { merchant_id, mode } = caller
    const { refund_id } = fields
    const db = runtime.db.withQuota('refunds').withDeadline(deadline)
    const refund = isRefundId(refund_id)
      ? await findRefundById(db, { merchant_id, mode, refund_id })
      : undefined
    if (!refund) throw unknownRefund()
    return { refund, warnings }
  })

// What differs between the two requests.
type RefundOperation<Read extends RefundCheckFields> = {
  guard: 'refund' | 'refundCheck'
  names: FieldNames
  signedNames: readonly string[]
  read(fields: Fields): Read
  signed(fields: Read): string
}

const refundRequest: RefundOperation<ReturnType<typeof readRefundFields>> = {
  guard: 'refund',
  names: refundNames,
  signedNames: ['amount', 'invoice_id', 'merchant_key', 'refund_id'],
  read: readRefundFields,
  signed: refundString,
}

const refundCheck: RefundOperation<RefundCheckFields> = {
  guard: 'refundCheck',
  names: refundCheckNames,
  signedNames: ['merchant_key', 'refund_id'],
  read: readRefundCheck,
  signed: ({ merchant_key, refund_id }) => refundCheckString(merchant_key, refund_id),
}

type RefundCall<Read> = { caller: Caller; fields: Read; warnings: readonly Warning[]; deadline: number }

// Always signed, whatever unsigned_requests says. A deactivated merchant passes: `work` decides about it.
async function withRefundCaller<Read extends RefundCheckFields>(
  runtime: Runtime,
  sent: Fields,
  address: string,
  { guard, names, signedNames, read, signed }: RefundOperation<Read>,
  work: (call: RefundCall<Read>) => Promise<RefundAnswer>,
): Promise<RefundAnswer> {
  const deadline = databaseDeadline()
  const present = presentFields(sent)
  const key = present.merchant_key
  const found = typeof key === 'string' ? await runtime.callers.find(key) : undefined
  const authenticated = async () => {
    const fields = read(present)
    const { merchant_key, secure_hash: hash } = fields
    if (hash === undefined) runtime.limits.guess(address)
    const lookup = found ?? (await runtime.callers.find(merchant_key))
    if (lookup.caller) mustBeReadable(lookup.caller, guard)
    const strings = [signed(fields)]
    const claim = { merchant_key, strings, hash, wrongTexts: () => wrongTexts(strings, signedNames, sent) }
    const refuse = () => hashRefusal(runtime, lookup.caller, claim)
    const caller = await inTime(deadline, authenticate(runtime, lookup, claim, guard, address, refuse))
    runtime.limits.request(caller)
    const warnings = caller.mode === 'test' ? fieldWarnings(sent, names) : []
    return { caller, fields, warnings, deadline }
  }
  return withErrorsAs200(found?.caller, () =>
    withFieldWarnings(sent, names, async () => work(await authenticated())),
  )
}
