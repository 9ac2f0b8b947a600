import { cleanId, cleanText, cleanWords } from '../stranger.ts'
import { isPlainText, parseUrl } from '../text.ts'
import type { Heard, ReplyFacts } from './channel.ts'
import { type Reason, reasons } from './reason.ts'

const maxWords = 200
const maxName = 60
const maxUrl = 2000
const maxQr = 1000 // more than a telephone reads off a screen
const maxAmount = 2n ** 63n - 1n // that our books can hold

type Said = Readonly<Record<string, unknown>>

// What a channel brought from its provider about the order of this name becomes one of the answers that we know, fit to
// be written down. Whatever else it is, it is no answer.
export function understand(told: unknown, name: string): Heard {
  if (typeof told !== 'object' || told === null)
    return unknown(`The channel answered ${cleanText(told, 40)}.`)
  const said = told as Said
  if (said.state === 'paid') return paid(said, name)
  if (said.state === 'failed') return failed(said)
  if (said.state === 'pending') return pending(said)
  if (said.state === 'absent') return { state: 'absent' }
  if (said.state === 'not_sent') return { state: 'not_sent', words: cleanWords(said.words, maxWords) ?? '' }
  if (said.state === 'unknown')
    return unknown(cleanWords(said.words, maxWords) ?? '', said.acknowledged === true)
  return unknown(`The channel answered ${cleanText(said.state, 40)}.`)
}

const unknown = (words: string, acknowledged = false): Heard => ({
  state: 'unknown',
  words,
  ...(acknowledged && { acknowledged }),
})

// A yes is never lost: where its amount is none that we can write down, or it is for another order, a person is told
// what was said.
function paid(said: Said, name: string): Heard {
  const { amount, currency, order } = said
  if (order !== name || name === '') return { state: 'other_order', words: otherOrder(said) }
  const isAmount = typeof amount === 'bigint' && amount >= 0n && amount <= maxAmount
  if (isAmount && typeof currency === 'string' && /^\w{1,10}$/.test(currency))
    return { state: 'paid', order: name, amount, currency, ...toldOf(said) }
  const words = `The provider says paid: ${cleanText(amount, maxName)} of ${cleanText(currency, maxName)}, which is no amount.`
  return { state: 'paid_oddly', words, ...toldOf(said) }
}

function otherOrder({ order, amount, currency, provider_ref }: Said): string {
  const named = typeof order === 'string' && order !== '' ? `order ${cleanText(order, maxName)}` : 'no order'
  const reference = provider_ref === undefined ? '' : `, reference ${cleanText(provider_ref, maxName)}`
  const what = `${cleanText(currency, maxName)} ${cleanText(amount, maxName)} in minor units${reference}`
  return `We asked about one order, and the provider says paid for ${named}: ${what}.`
}

function failed(said: Said): Heard {
  const { reason } = said
  if (typeof reason !== 'string' || !Object.hasOwn(reasons, reason))
    return unknown(`The channel answered failed for a reason that is none: ${cleanText(reason, 40)}.`, true)
  return { state: 'failed', reason: reason as Reason, ...toldOf(said) }
}

// Without the way on, the customer would wait for nothing: it is asked for again.
function pending(said: Said): Heard {
  const { redirect_url, qr } = said
  if (redirect_url !== undefined && !isAddress(redirect_url))
    return unknown('The way on is no address.', true)
  if (qr !== undefined && !isShort(qr, maxQr)) return unknown('The way on is no code.', true)
  return { state: 'pending', ...present({ redirect_url, qr }), ...toldOf(said) }
}

const isShort = (told: unknown, max: number): told is string =>
  typeof told === 'string' && told !== '' && told.length <= max && isPlainText(told)
const isAddress = (told: unknown) => isShort(told, maxUrl) && parseUrl(told) === undefined

const toldOf = (said: Said): ReplyFacts =>
  present({
    provider_ref: cleanId(said.provider_ref),
    instrument: cleanWords(said.instrument, maxName),
    card_type: cleanWords(said.card_type, maxName),
    psp_response_code: cleanWords(said.psp_response_code, maxName),
    psp_response_msg: cleanWords(said.psp_response_msg, maxWords),
  })

const present = (facts: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined))
