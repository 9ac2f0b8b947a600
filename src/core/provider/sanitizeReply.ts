import { maskNumbers } from '../mask.ts'
import { cleanId, cleanText, cleanOptionalText, isPlainText, parseUrl } from '../text.ts'
import type { FormField, Step } from './paymentMethod.ts'
import { type Reason, reasons } from './reason.ts'
import type { Dispute, DisputeState, ReplyFacts, Reversal, SanitizedReply } from './reply.ts'

const maxWords = 200
const maxName = 60
const maxUrl = 2000
const maxQr = 1000 // more than a telephone reads off a screen
const maxText = 300
const mostFields = 5
const maxRestMs = 3_600_000
const maxCode = 100
const mostRecords = 1000 // refunds or disputes of one charge
const maxAmount = BigInt(Number.MAX_SAFE_INTEGER) // a locked row passes through JSON, whose numbers are doubles

type Said = Readonly<Record<string, unknown>>

// What a provider brought from its provider about the order of this name becomes one of the answers that we know, fit to
// be written down. Whatever else it is, it is no answer.
export function sanitizeReply(told: unknown, name: string): SanitizedReply {
  if (typeof told !== 'object' || told === null)
    return unknown(`The provider answered ${cleanText(told, 40)}.`)
  const said = told as Said
  if (said.state === 'paid') return paid(said, name)
  if (said.state === 'paid_mismatch') return mismatch(said, name)
  if (said.state === 'failed' || said.state === 'declined') return refused(said, said.state)
  if (said.state === 'pending') return pending(said)
  if (said.state === 'absent') return { state: 'absent' }
  if (said.state === 'not_sent')
    return {
      state: 'not_sent',
      words: cleanOptionalText(said.words, maxWords) ?? '',
      ...present({ provider_code: codeOf(said), isRefusal: refusalOf(said) }),
    }
  if (said.state === 'unknown')
    return {
      ...unknown(cleanOptionalText(said.words, maxWords) ?? '', said.acknowledged === true),
      ...present({
        unknownCode: cleanOptionalText(said.unknownCode, maxName),
        provider_code: codeOf(said),
        restMs: restOf(said.restMs),
        isRefusal: refusalOf(said),
      }),
    }
  return unknown(`The provider answered ${cleanText(said.state, 40)}.`)
}

const refusalOf = ({ isRefusal }: Said) => (isRefusal === true ? true : undefined)

const restOf = (told: unknown) =>
  typeof told === 'number' && told > 0 ? Math.min(told, maxRestMs) : undefined

const unknown = (words: string, acknowledged = false): SanitizedReply & { state: 'unknown' } => ({
  state: 'unknown',
  words,
  ...(acknowledged && { acknowledged }),
})

// A payment that the provider reports is never dropped: an unreadable amount or another order's name becomes a task.
function paid(said: Said, name: string): SanitizedReply {
  const { amount, currency, order } = said
  if (order !== name || name === '') return { state: 'other_order', words: otherOrder(said) }
  const isAmount = amount === 'not_said' || isMoney(amount)
  const isCharge = said.charged === undefined || isMoney(said.charged)
  if (isAmount && isCharge && typeof currency === 'string' && /^\w{1,10}$/.test(currency)) {
    const charge = present({ charged: said.charged, ...reversalsOf(said), ...disputesOf(said) })
    return { state: 'paid', order: name, amount, currency, ...charge, ...toldOf(said) }
  }
  return { state: 'paid_mismatch', order: name, words: noAmount(amount, currency), ...toldOf(said) }
}

// The provider says paid, and its provider could not read the amount.
function mismatch(said: Said, name: string): SanitizedReply {
  if (said.order !== name || name === '') return { state: 'other_order', words: otherOrder(said) }
  const words = masked(cleanOptionalText(said.words, maxWords)) ?? noAmount(said.amount, said.currency)
  return { state: 'paid_mismatch', order: name, words, ...toldOf(said) }
}

const noAmount = (amount: unknown, currency: unknown) =>
  `The provider says paid: ${cleanText(amount, maxName)} of ${cleanText(currency, maxName)}, which is no amount.`

const isMoney = (told: unknown): told is bigint => typeof told === 'bigint' && told >= 0n && told <= maxAmount

// A record without an id cannot be recognized when it is reported again, so it is left out.
function recordsOf(told: unknown): Said[] {
  if (!Array.isArray(told)) return []
  return (told as Said[])
    .slice(0, mostRecords)
    .filter(one => cleanId(one?.id) !== undefined && isMoney(one.amount) && one.amount > 0n)
}

const reversalsOf = ({ reversals }: Said): { reversals?: Reversal[] } => {
  const read = recordsOf(reversals).map(one => ({
    id: cleanId(one.id) as string,
    amount: one.amount as bigint,
    words: masked(cleanOptionalText(one.words, maxWords)) ?? '',
    ...(isTime(one.at) && { at: one.at as Date }),
  }))
  return read.length > 0 ? { reversals: read } : {}
}

const disputeStates: ReadonlySet<unknown> = new Set<DisputeState>(['open', 'won', 'lost'])

// A state that we do not know leaves the dispute open.
const disputesOf = ({ disputes }: Said): { disputes?: Dispute[] } => {
  const read = recordsOf(disputes).map(one => ({
    id: cleanId(one.id) as string,
    state: (disputeStates.has(one.state) ? one.state : 'open') as DisputeState,
    amount: one.amount as bigint,
    words: masked(cleanOptionalText(one.words, maxWords)) ?? '',
    ...(isTime(one.due_at) && { due_at: one.due_at as Date }),
  }))
  return read.length > 0 ? { disputes: read } : {}
}

function otherOrder({ order, amount, currency, provider_ref }: Said): string {
  const named = typeof order === 'string' && order !== '' ? `order ${cleanText(order, maxName)}` : 'no order'
  const reference = provider_ref === undefined ? '' : `, reference ${cleanText(provider_ref, maxName)}`
  const what = `${cleanText(currency, maxName)} ${cleanText(amount, maxName)} in minor units${reference}`
  return `We asked about one order, and the provider says paid for ${named}: ${what}.`
}

function refused(said: Said, state: 'failed' | 'declined'): SanitizedReply {
  const { reason } = said
  if (typeof reason !== 'string' || !Object.hasOwn(reasons, reason))
    return unknown(`The provider answered failed for a reason that is none: ${cleanText(reason, 40)}.`, true)
  const isStartRefused = state === 'failed' && said.isStartRefused === true
  return { state, reason: reason as Reason, ...(isStartRefused && { isStartRefused }), ...toldOf(said) }
}

// Without the way on, the customer would wait for nothing: it is asked for again.
function pending(said: Said): SanitizedReply {
  const { redirect_url, qr } = said
  const step = said.step === undefined ? undefined : stepOf(said.step as Said)
  if (step === 'no step') return unknown('What the customer should type is not said.', true)
  if (redirect_url !== undefined && !isAddress(redirect_url))
    return unknown('The way on is no address.', true)
  if (qr !== undefined && !isShort(qr, maxQr)) return unknown('The way on is no code.', true)
  return { state: 'pending', ...present({ redirect_url, qr, step }), ...toldOf(said) }
}

// What is drawn on the page: a name for our form, fields that we know how to draw, and the provider's text.
function stepOf(said: Said | null): Step | 'no step' {
  const { name, fields, text } = said ?? {}
  if (typeof name !== 'string' || !/^\w{1,30}$/.test(name) || !Array.isArray(fields)) return 'no step'
  const drawn = fields.slice(0, mostFields).filter(isField)
  if (drawn.length === 0 || drawn.length < fields.length) return 'no step'
  return { name, fields: drawn, ...present({ text: cleanOptionalText(text, maxText) }) }
}

const kinds: ReadonlySet<unknown> = new Set<FormField['kind']>(['phone', 'digits', 'text', 'email', 'date'])

const isField = (told: unknown): told is FormField => {
  const { name, kind } = (told ?? {}) as Said
  return typeof name === 'string' && /^\w{1,30}$/.test(name) && kinds.has(kind)
}

const isShort = (told: unknown, max: number): told is string =>
  typeof told === 'string' && told !== '' && told.length <= max && isPlainText(told)
const isAddress = (told: unknown) => isShort(told, maxUrl) && parseUrl(told) === undefined

const toldOf = (said: Said): ReplyFacts =>
  present({
    provider_ref: cleanId(said.provider_ref),
    instrument: cleanOptionalText(said.instrument, maxName),
    card_type: cleanOptionalText(said.card_type, maxName),
    psp_response_code: cleanOptionalText(said.psp_response_code, maxName),
    psp_response_msg: masked(cleanOptionalText(said.psp_response_msg, maxWords)),
    provider_code: codeOf(said),
    text: cleanOptionalText(said.text, maxText),
    unknownCode: cleanOptionalText(said.unknownCode, maxName),
    provider_time: isTime(said.provider_time) ? said.provider_time : undefined,
    fee: isMoney(said.fee) ? said.fee : undefined,
    net: isMoney(said.net) ? said.net : undefined,
  })

const codeOf = (said: Said) => masked(cleanOptionalText(said.provider_code, maxCode))

const masked = (sentence: string | undefined) => sentence && maskNumbers(sentence)

const isTime = (told: unknown) =>
  told instanceof Date && told.getTime() > 0 && told.getTime() < Date.UTC(2200, 0)

const present = (facts: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined))
