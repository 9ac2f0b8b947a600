import { cleanId, cleanText, cleanOptionalText, isPlainText, parseUrl } from '../text.ts'
import type { FormField, Step } from './paymentMethod.ts'
import { type Reason, reasons } from './reason.ts'
import type { Dispute, DisputeState, ReplyFacts, Reversal, SanitizedReply } from './reply.ts'
import {
  isReplyAmount,
  isReplyTime,
  maskedReplyText,
  maxReplyWords,
  presentFields,
  type RawReply,
  replyCode,
  replyPause,
  replyRefusal,
} from './replyFields.ts'

const maxName = 60
const maxUrl = 2000
const maxQr = 1000 // longer codes cannot be scanned off a screen
const maxText = 300
const mostFields = 5
const mostRecords = 1000 // refunds or disputes of one charge

// Makes a known and storable reply of whatever a provider module returned about an order. `name` is what the provider names
// the order by. Everything that is not a valid reply becomes `unknown`.
export function sanitizeReply(value: unknown, name: string): SanitizedReply {
  if (typeof value !== 'object' || value === null)
    return unknown(`The provider answered ${cleanText(value, 40)}.`)
  const raw = value as RawReply
  if (raw.state === 'paid') return paid(raw, name)
  if (raw.state === 'paid_mismatch') return mismatch(raw, name)
  if (raw.state === 'failed' || raw.state === 'declined') return refused(raw, raw.state)
  if (raw.state === 'pending') return pending(raw)
  if (raw.state === 'absent') return { state: 'absent' }
  if (raw.state === 'not_sent')
    return {
      state: 'not_sent',
      words: cleanOptionalText(raw.words, maxReplyWords) ?? '',
      ...presentFields({ provider_code: replyCode(raw), isRefusal: replyRefusal(raw) }),
    }
  if (raw.state === 'unknown')
    return {
      ...unknown(cleanOptionalText(raw.words, maxReplyWords) ?? '', raw.acknowledged === true),
      ...presentFields({
        unknownCode: cleanOptionalText(raw.unknownCode, maxName),
        provider_code: replyCode(raw),
        restMs: replyPause(raw),
        isRefusal: replyRefusal(raw),
      }),
    }
  return unknown(`The provider answered ${cleanText(raw.state, 40)}.`)
}

const unknown = (words: string, acknowledged = false): SanitizedReply & { state: 'unknown' } => ({
  state: 'unknown',
  words,
  ...(acknowledged && { acknowledged }),
})

// A reported payment is never dropped: an unreadable amount or the name of another order becomes a task.
function paid(raw: RawReply, name: string): SanitizedReply {
  const { amount, currency, order } = raw
  if (order !== name || name === '') return { state: 'other_order', words: otherOrder(raw) }
  const isAmount = amount === 'not_said' || isReplyAmount(amount)
  const isCharge = raw.charged === undefined || isReplyAmount(raw.charged)
  if (isAmount && isCharge && typeof currency === 'string' && /^\w{1,10}$/.test(currency)) {
    const charge = presentFields({ charged: raw.charged, ...reversalsOf(raw), ...disputesOf(raw) })
    return { state: 'paid', order: name, amount, currency, ...charge, ...factsOf(raw) }
  }
  return { state: 'paid_mismatch', order: name, words: noAmount(amount, currency), ...factsOf(raw) }
}

// The provider reported a payment, and the module could not read the amount.
function mismatch(raw: RawReply, name: string): SanitizedReply {
  if (raw.order !== name || name === '') return { state: 'other_order', words: otherOrder(raw) }
  const words = maskedReplyText(raw.words) ?? noAmount(raw.amount, raw.currency)
  return { state: 'paid_mismatch', order: name, words, ...factsOf(raw) }
}

const noAmount = (amount: unknown, currency: unknown) =>
  `The provider says paid: ${cleanText(amount, maxName)} of ${cleanText(currency, maxName)}, which is not an amount.`

// A record without an id could not be recognized when it is reported again, so it is left out.
function recordsOf(list: unknown): RawReply[] {
  if (!Array.isArray(list)) return []
  return (list as RawReply[])
    .slice(0, mostRecords)
    .filter(one => cleanId(one?.id) !== undefined && isReplyAmount(one.amount) && one.amount > 0n)
}

const reversalsOf = ({ reversals }: RawReply): { reversals?: Reversal[] } => {
  const read = recordsOf(reversals).map(one => ({
    id: cleanId(one.id) as string,
    amount: one.amount as bigint,
    words: maskedReplyText(one.words) ?? '',
    ...(isReplyTime(one.at) && { at: one.at }),
    ...presentFields({ refund_reference: cleanId(one.refund_reference) }),
  }))
  return read.length > 0 ? { reversals: read } : {}
}

const disputeStates: ReadonlySet<unknown> = new Set<DisputeState>(['open', 'won', 'lost'])

// A dispute with an unknown state stays open.
const disputesOf = ({ disputes }: RawReply): { disputes?: Dispute[] } => {
  const read = recordsOf(disputes).map(one => ({
    id: cleanId(one.id) as string,
    state: (disputeStates.has(one.state) ? one.state : 'open') as DisputeState,
    amount: one.amount as bigint,
    words: maskedReplyText(one.words) ?? '',
    ...(isReplyTime(one.due_at) && { due_at: one.due_at }),
  }))
  return read.length > 0 ? { disputes: read } : {}
}

function otherOrder({ order, amount, currency, provider_ref }: RawReply): string {
  const named = typeof order === 'string' && order !== '' ? `order ${cleanText(order, maxName)}` : 'no order'
  const reference = provider_ref === undefined ? '' : `, reference ${cleanText(provider_ref, maxName)}`
  const what = `${cleanText(currency, maxName)} ${cleanText(amount, maxName)} in minor units${reference}`
  return `We asked about one order, and the provider says paid for ${named}: ${what}.`
}

function refused(raw: RawReply, state: 'failed' | 'declined'): SanitizedReply {
  const { reason } = raw
  if (typeof reason !== 'string' || !Object.hasOwn(reasons, reason))
    return unknown(`The provider answered failed for an unknown reason: ${cleanText(reason, 40)}.`, true)
  const isStartRefused = state === 'failed' && raw.isStartRefused === true
  return { state, reason: reason as Reason, ...(isStartRefused && { isStartRefused }), ...factsOf(raw) }
}

// Without a usable step, address or code the customer cannot continue, so the status is asked again.
function pending(raw: RawReply): SanitizedReply {
  const { redirect_url, qr } = raw
  const step = raw.step === undefined ? undefined : stepOf(raw.step as RawReply)
  if (step === 'invalid') return unknown('The provider asks for input, and does not say which.', true)
  if (redirect_url !== undefined && !isAddress(redirect_url))
    return unknown('The address of the payment page is not a URL.', true)
  if (qr !== undefined && !isShort(qr, maxQr))
    return unknown('The QR code is empty, too long or not plain text.', true)
  return { state: 'pending', ...presentFields({ redirect_url, qr, step }), ...factsOf(raw) }
}

// Shown on the page: fields of known kinds and the provider's text.
function stepOf(raw: RawReply | null): Step | 'invalid' {
  const { name, fields, text } = raw ?? {}
  if (typeof name !== 'string' || !/^\w{1,30}$/.test(name) || !Array.isArray(fields)) return 'invalid'
  const known = fields.slice(0, mostFields).filter(isField)
  if (known.length === 0 || known.length < fields.length) return 'invalid'
  return { name, fields: known, ...presentFields({ text: cleanOptionalText(text, maxText) }) }
}

const kinds: ReadonlySet<unknown> = new Set<FormField['kind']>(['phone', 'digits', 'text', 'email', 'date'])

const isField = (value: unknown): value is FormField => {
  const { name, kind } = (value ?? {}) as RawReply
  return typeof name === 'string' && /^\w{1,30}$/.test(name) && kinds.has(kind)
}

const isShort = (value: unknown, max: number): value is string =>
  typeof value === 'string' && value !== '' && value.length <= max && isPlainText(value)
const isAddress = (value: unknown) => isShort(value, maxUrl) && parseUrl(value) === undefined

const factsOf = (raw: RawReply): ReplyFacts =>
  presentFields({
    provider_ref: cleanId(raw.provider_ref),
    instrument: cleanOptionalText(raw.instrument, maxName),
    card_type: cleanOptionalText(raw.card_type, maxName),
    psp_response_code: cleanOptionalText(raw.psp_response_code, maxName),
    psp_response_msg: maskedReplyText(raw.psp_response_msg),
    provider_code: replyCode(raw),
    text: cleanOptionalText(raw.text, maxText),
    unknownCode: cleanOptionalText(raw.unknownCode, maxName),
    provider_time: isReplyTime(raw.provider_time) ? raw.provider_time : undefined,
    fee: isReplyAmount(raw.fee) ? raw.fee : undefined,
    net: isReplyAmount(raw.net) ? raw.net : undefined,
  })
