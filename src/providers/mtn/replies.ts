import type { Order } from '../../core/provider/order.ts'
import type { Reply, ReplyFacts } from '../../core/provider/reply.ts'
import { parseReportedMoney } from '../../core/money.ts'
import { mtnCodeOf, knownCode } from './reasons.ts'
import { type Answered, type JsonAnswer, readJson } from '../http/providerHttp.ts'

const restMs = 10_000 // after a 429 that does not say for how long

// What a question by our reference was answered. The status counts before the reason: a FAILED whose reason we do not
// know is a no all the same.
export function statusReply(order: Order, answered: Answered, standIn: string | undefined): Reply {
  const answer = readJson(answered.text)
  if (isMtnNotFound(answered)) return { state: 'absent' }
  if (answered.http !== 200 || !answer) return unclearMtnReply(answered)
  const { status } = answer
  if (status === 'SUCCESSFUL') return paidReply(order, answer, standIn)
  if (status === 'FAILED') return failedReply(answer)
  if (status === 'PENDING' || status === 'CREATED') return { state: 'pending' } // CREATED stands in no document
  return unknownStatus(status)
}

// MTN answers 404; 400 with the same code was seen, too.
export const isMtnNotFound = ({ http, text }: Answered) =>
  (http === 404 || http === 400) && mtnCodeOf(readJson(text)) === 'RESOURCE_NOT_FOUND'

function paidReply(order: Order, answer: JsonAnswer, standIn: string | undefined): Reply {
  const said = answer.currency
  const currency = standIn !== undefined && said === standIn ? order.currency : said
  const amount = parseReportedMoney(String(answer.amount), currency, order.currency)
  const named = typeof answer.externalId === 'string' ? answer.externalId : ''
  if (typeof amount === 'string' || typeof currency !== 'string') {
    const words = `MTN says SUCCESSFUL, and its amount is unreadable: ${shown(answer.amount)} ${shown(said)}.`
    return { state: 'paid_mismatch', order: named, words, ...factsOf(answer) }
  }
  return { state: 'paid', order: named, amount, currency, ...factsOf(answer) }
}

const shown = (told: unknown) => (typeof told === 'string' || typeof told === 'number' ? told : typeof told)

function failedReply(answer: JsonAnswer): Reply {
  const code = mtnCodeOf(answer.reason)
  const known = knownCode(code)
  return {
    state: 'failed',
    reason: known?.reason ?? 'refused',
    ...(code && { provider_code: code }),
    ...(!known && { unknownCode: code ?? noWord }),
    ...factsOf(answer),
  }
}

function factsOf({ financialTransactionId: id }: JsonAnswer): ReplyFacts {
  return (typeof id === 'string' && id !== '') || typeof id === 'number' ? { provider_ref: String(id) } : {}
}

// Whatever the status means, MTN has the order. A number could be anybody's, so only what has none is repeated.
function unknownStatus(status: unknown): Reply {
  const word = typeof status === 'string' && /^[A-Za-z_ -]{1,60}$/.test(status) ? status : undefined
  return {
    state: 'unknown',
    words: `status ${word ?? noWord}`,
    ...(typeof status === 'string' && { acknowledged: true }),
    unknownCode: word ?? noWord,
    ...(word && { provider_code: word }),
  }
}

const noWord = 'that is no word'

export type MtnUnknownReply = Reply & { state: 'unknown' }

// What is no answer to what we wanted to know.
export function unclearMtnReply(answered: Answered): MtnUnknownReply {
  const { http, restMs: theirs } = answered
  const rest = theirs ?? (http === 429 ? restMs : undefined)
  return {
    state: 'unknown',
    words: httpWords(answered),
    ...(rest !== undefined && { restMs: rest }),
    ...((http === 401 || http === 403) && { isRefusal: true }),
  }
}

export function httpWords({ http, text }: Answered): string {
  const answer = readJson(text)
  const what = mtnCodeOf(answer) ?? (answer || text === '' ? '' : 'with a text that is no JSON')
  return `HTTP ${http} ${what}`.trim()
}
