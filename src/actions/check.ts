import type { PaymentState } from '../core/payment.ts'
import { malformed, missing, unknownInvoice } from '../core/refusal.ts'
import { isInvoiceId } from '../core/request.ts'
import { isSigned, statusString } from '../core/signature.ts'
import type { Batcher } from '../store/batch.ts'
import type { Caller } from '../store/callers.ts'
import type { InvoiceKey } from '../store/payments.ts'
import { answerFor } from './answerFor.ts'
import type { Callers } from './callers.ts'
import { hashRefusal } from './hashRefusal.ts'
import { databaseDeadline, inTime } from './inTime.ts'
import type { Limits } from './limits.ts'
import { mustBeReadable } from './mustBeReadable.ts'

export type Checking = {
  callers: Callers
  limits: Limits
  lookups: Batcher<InvoiceKey, PaymentState | undefined>
}

export type Question = { merchant_key?: unknown; invoice_id?: unknown; secure_hash?: unknown }
export type Checked = { payment: PaymentState; masked: boolean }

// A merchant asks how a payment stands. An unknown merchant and an unknown invoice give the same answer after
// the same work, so that neither can be guessed by its timing.
export async function check(gate: Checking, question: Question, address: string): Promise<Checked> {
  const { merchant_key, invoice_id, secure_hash } = requiredFields(question)
  if (secure_hash === undefined) gate.limits.guess(address)
  const deadline = databaseDeadline()
  const caller = await gate.callers.find(merchant_key)
  return answerFor(caller, () => inTime(deadline, answer()))

  async function answer(): Promise<Checked> {
    if (caller) mustBeReadable(caller, 'status')
    if (caller) await proveQuestion(gate, caller, invoice_id, secure_hash, address)
    if (caller) gate.limits.request(caller)
    const { merchant_id, mode } = caller ?? { merchant_id: '', mode: 'test' as const }
    const payment = await gate.lookups.add({
      merchant_id,
      mode,
      invoice_id: isInvoiceId(invoice_id) ? invoice_id : '',
    })
    if (caller && payment) return { payment, masked: mayBeUnsigned(caller) && secure_hash === undefined }
    if (caller) await gate.callers.findFresh(merchant_key)
    gate.limits.miss(address)
    throw unknownInvoice()
  }
}

// Also where nobody can tell: to mask too much harms nobody.
const mayBeUnsigned = ({ settings, unreadable }: Caller) =>
  settings.unsigned_requests || unreadable.includes('unsigned_requests')

async function proveQuestion(
  gate: Checking,
  caller: Caller,
  invoice_id: string,
  secure_hash: string | undefined,
  address: string,
) {
  const text = statusString(invoice_id, caller.merchant_key)
  if (secure_hash === undefined) {
    if (caller.settings.signed_status_checks) throw hashRefusal(caller, text, secure_hash)
    return
  }
  if (isSigned(caller.secrets, [text], secure_hash)) return
  gate.limits.guess(address)
  const fresh = await gate.callers.findFresh(caller.merchant_key)
  if (fresh && isSigned(fresh.secrets, [text], secure_hash)) return
  gate.limits.miss(address)
  throw hashRefusal(caller, text, secure_hash)
}

function requiredFields({ merchant_key, invoice_id, secure_hash }: Question) {
  if (merchant_key === undefined || merchant_key === '') throw missing('merchant_key')
  if (invoice_id === undefined || invoice_id === '') throw missing('invoice_id')
  if (typeof merchant_key !== 'string') throw malformed('merchant_key', 'must be text')
  if (typeof invoice_id !== 'string') throw malformed('invoice_id', 'must be text')
  if (secure_hash !== undefined && typeof secure_hash !== 'string')
    throw malformed('secure_hash', 'must be text')
  return { merchant_key, invoice_id, secure_hash: secure_hash === '' ? undefined : secure_hash }
}
