import { hash, timingSafeEqual } from 'node:crypto'
import { wrongTexts } from '../../core/interface/diagnosis/wrongTexts.ts'
import { requestDifferences } from '../../core/interface/differences.ts'
import { requestNames } from '../../core/interface/fieldNames.ts'
import { type Fields, NumberText } from '../../core/interface/json.ts'
import { conflict, deactivated, malformed, missing, type Refusal } from '../../core/interface/refusal.ts'
import {
  parseRequest,
  type PaymentRequest,
  presentFields,
  requestFingerprint,
} from '../../core/interface/request.ts'
import { checkSettings, reservedInvoice, unsupportedCurrency } from '../../core/interface/requestLimits.ts'
import { requestString, totalSpellings } from '../../core/interface/signature.ts'
import type { Warning } from '../../core/interface/warnings.ts'
import { storedLineItems } from '../../core/lineItems.ts'
import { isCurrency, defaultCurrency } from '../../core/money.ts'
import type { NewPayment } from '../../core/payment/payment.ts'
import { activeTraceparent } from '../../core/traces.ts'
import type { CallerLookup } from '../../runtime/callerCache.ts'
import { newReference, newToken } from '../../runtime/ids.ts'
import { databaseDeadline, inTime } from '../../runtime/deadline.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Caller } from '../../store/merchants/callers.ts'
import { findPayment } from '../../store/payments/paymentLife.ts'
import { findRequests, type StoredRequest } from '../../store/payments/payments.ts'
import { requireOriginal } from '../installation/requireOriginal.ts'
import { authenticate, hashRefusal, mustBeReadable, withErrorsAs200 } from './authenticate.ts'
import { type Direct, payDirectly, readDirect } from './directRequest.ts'
import { reopen } from './reopen.ts'
import { requestWarnings, withFieldWarnings } from './requestWarnings.ts'

// The API requires generate_checkout_url; the older form endpoints do not have it.
export type InitiationRoute = 'api' | 'form'
export type Initiated = { stored: StoredRequest; direct?: Direct; warnings?: readonly Warning[] }

// `sent` are the fields as they came, `fields` the present ones by their names in the contract.
type Incoming = { sent: Fields; fields: Fields; route: InitiationRoute; address: string }

const signedNames = ['invoice_id', 'merchant_key', 'total']

const notFound: CallerLookup = { caller: undefined, isFresh: true }

// A merchant requests a payment. The same request again finds the same payment, and reopens it if it ended unpaid. The
// request is answered after the payment is stored.
export async function initiate(
  runtime: Runtime,
  sent: Fields,
  route: InitiationRoute,
  address: string,
): Promise<Initiated> {
  const deadline = databaseDeadline()
  const fields = presentFields(sent)
  const incoming = { sent, fields, route, address }
  const key = fields.merchant_key
  const found = typeof key === 'string' ? await runtime.callers.find(key) : notFound
  const work = async () => {
    const initiated = await inTime(deadline, acceptRequest(runtime, incoming, found, deadline))
    const { stored, direct } = initiated
    if (direct) await payDirectly(runtime, stored, direct, isFromServer(incoming) ? null : address, deadline)
    return initiated
  }
  return withErrorsAs200(found.caller, () => withFieldWarnings(sent, requestNames, work))
}

// A signed API request comes from the merchant's own server. A signed form is sent by the customer's browser, which can
// repeat it.
const isFromServer = ({ route, fields }: Incoming) => route === 'api' && hasHash(fields)

const hasHash = (fields: Fields) => fields.secure_hash !== undefined

async function acceptRequest(
  runtime: Runtime,
  incoming: Incoming,
  found: CallerLookup,
  deadline: number,
): Promise<Initiated> {
  const { sent, fields, route, address } = incoming
  if (found.caller) mustBeReadable(found.caller, 'initiation')
  const caller = await authenticateCaller(runtime, incoming, found)
  requireOriginal(runtime, caller.mode)
  if (isFromServer(incoming)) runtime.limits.request(caller)
  else runtime.limits.unsigned(caller, address)
  const request = readRequest(fields, route, caller)
  const { direct, fault } = isDirect(request)
    ? readDirect(runtime.providerAccounts, caller, request)
    : noDirect
  const refusal = reservedInvoice(request) ?? checkSettings(caller.settings, caller.outlets, request) ?? fault
  const warnings = requestWarnings(runtime, caller, sent, request)
  if (refusal)
    return { stored: await findEqualRequest(runtime, caller, request, refusal, deadline), direct, warnings }
  const stored = await storePayment(runtime, caller, request, hasHash(fields), deadline)
  if (!direct) await reopen(runtime, stored, deadline)
  return { stored, direct, warnings }
}

const noDirect = { direct: undefined, fault: undefined }

// The caller, authenticated by the hash. The merchant's setting may accept older requests without one.
async function authenticateCaller(
  runtime: Runtime,
  { sent, fields, route, address }: Incoming,
  found: CallerLookup,
): Promise<Caller> {
  const { merchant_key, invoice_id, total, secure_hash } = await requiredFields(runtime, fields, found)
  const { caller } = found
  const mayBeUnsigned = caller?.active && caller.settings.unsigned_requests
  if (secure_hash === undefined && mayBeUnsigned && (route === 'form' || isDirect(fields))) {
    runtime.callers.used.add(caller.merchant_key, caller.merchant_id)
    return caller
  }
  const strings = totalSpellings(total).map(spelling => requestString(invoice_id, merchant_key, spelling))
  const claim = {
    merchant_key,
    strings,
    hash: secure_hash,
    wrongTexts: () => wrongTexts(strings, signedNames, sent),
  }
  const refuse = () => (caller?.active === false ? deactivated() : hashRefusal(runtime, caller, claim))
  const signer = await authenticate(runtime, found, claim, 'initiation', address, refuse)
  if (!signer.active) throw deactivated()
  return signer
}

// A request that lacks one of these fields is refused after the same work for a known and for an unknown merchant.
async function requiredFields(runtime: Runtime, fields: Fields, { caller, isFresh }: CallerLookup) {
  try {
    return readRequired(fields)
  } catch (refusal) {
    if (caller && !isFresh) await runtime.callers.findFresh(caller.merchant_key)
    throw refusal
  }
}

function readRequired(fields: Fields) {
  const { merchant_key, invoice_id, total, secure_hash } = fields
  if (merchant_key === undefined) throw missing('merchant_key')
  if (invoice_id === undefined) throw missing('invoice_id')
  if (total === undefined) throw missing('total')
  if (typeof merchant_key !== 'string') throw malformed('merchant_key', 'must be text')
  if (typeof invoice_id !== 'string') throw malformed('invoice_id', 'must be text')
  if (typeof total !== 'string' && !(total instanceof NumberText))
    throw malformed('total', 'must be text or a number')
  if (secure_hash !== undefined && typeof secure_hash !== 'string')
    throw malformed('secure_hash', 'must be text')
  return { merchant_key, invoice_id, total, secure_hash }
}

const isDirect = (fields: Fields) =>
  fields.pymt_instrument !== undefined && fields.generate_checkout_url === undefined

// Validates a request, apart from the merchant's settings. The refusal of an unknown currency lists the merchant's.
function readRequest(fields: Fields, route: InitiationRoute, { settings }: Caller): PaymentRequest {
  if (fields.currency !== undefined && !isCurrency(fields.currency)) throw unsupportedCurrency(settings)
  const request = parseRequest(fields)
  const direct = isDirect(request)
  if (direct && !request.extra_wallet_issuer_hint)
    throw malformed('extra_wallet_issuer_hint', 'is required with pymt_instrument')
  if (route === 'api' && !direct && !request.generate_checkout_url)
    throw malformed('generate_checkout_url', 'must be true')
  return request
}

// The present settings refuse the request. If an equal request was stored under earlier settings, its payment is returned.
async function findEqualRequest(
  { db }: Runtime,
  { merchant_id, mode }: Caller,
  request: PaymentRequest,
  refusal: Refusal,
  deadline: number,
): Promise<StoredRequest> {
  const key = { merchant_id, mode, invoice_id: request.invoice_id }
  const [stored] = await findRequests(db.withQuota('repeat').withDeadline(deadline), [key])
  if (stored && timingSafeEqual(stored.request_digest, digestOf(request))) return stored
  throw refusal
}

async function storePayment(
  runtime: Runtime,
  caller: Caller,
  request: PaymentRequest,
  signed: boolean,
  deadline: number,
): Promise<StoredRequest> {
  const payment = newPayment(caller, request, runtime.clock())
  const stored = await runtime.payments.add(payment)
  if (timingSafeEqual(stored.request_digest, payment.request_digest)) return stored
  throw conflict(signed ? await differencesOf(runtime, stored, payment, deadline) : [])
}

// Only a conflict costs this statement. An unsigned request is told nothing about the stored one.
async function differencesOf({ db }: Runtime, stored: StoredRequest, sent: NewPayment, deadline: number) {
  const found = await findPayment(db.withQuota('repeat').withDeadline(deadline), stored)
  return found ? requestDifferences(found, sent, sent.mode) : []
}

// Only the request is hashed, not the settings.
const digestOf = (request: PaymentRequest) =>
  Buffer.from(hash('sha256', requestFingerprint(request), 'hex'), 'hex')

export function newPayment(
  { merchant_id, mode, settings }: Pick<Caller, 'merchant_id' | 'mode' | 'settings'>,
  request: PaymentRequest,
  now: Date,
): NewPayment {
  return {
    merchant_id,
    tx_reference: newReference(now),
    mode,
    invoice_id: request.invoice_id,
    tx_token: newToken(merchant_id, now),
    status: 'awaiting_payment',
    status_reason: '',
    total: request.total,
    currency: request.currency ?? defaultCurrency,
    success_url: request.success_url ?? null,
    cancelled_url: request.cancelled_url ?? null,
    deferred_url: request.deferred_url ?? null,
    ipn_url: request.ipn_url ?? null,
    number: request.number ?? null,
    email: request.email ?? null,
    name: request.name ?? null,
    description: request.description ?? null,
    line_items: request.line_items ? storedLineItems(request.line_items) : null,
    outlet: request.extra_outlet ?? null,
    pymt_instrument: request.pymt_instrument ?? null,
    wallet_issuer_hint: request.extra_wallet_issuer_hint ?? null,
    extra: request.extra,
    request_digest: digestOf(request),
    created_at: now,
    updated_at: now,
    expires_at: new Date(now.getTime() + settings.expiry_minutes * 60_000),
    traceparent: activeTraceparent(),
  }
}
