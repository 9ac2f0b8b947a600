import type { Order } from '../../core/channel/order.ts'
import type { Reply, ReplyFacts } from '../../core/channel/reply.ts'
import { parseSaid } from '../../core/money.ts'
import { type JsonAnswer, readJson } from '../http/askJson.ts'
import type { Answered } from '../http/exchange.ts'
import { codeOf, reasonOf } from './reasons.ts'

const restMs = 10_000 // after a 429 that does not say for how long

// What a question by our reference was answered. The status counts before the reason: a FAILED whose reason we do not
// know is a no all the same.
export function statusReply(order: Order, answered: Answered, standIn: string | undefined): Reply {
  const answer = readJson(answered.text)
  if (answered.http === 404 && codeOf(answer) === 'RESOURCE_NOT_FOUND') return { state: 'absent' }
  if (answered.http !== 200 || !answer) return unclear(answered)
  const { status } = answer
  if (status === 'SUCCESSFUL') return paidReply(order, answer, standIn)
  if (status === 'FAILED') return failedReply(answer)
  if (status === 'PENDING' || status === 'CREATED') return { state: 'pending' } // CREATED stands in no document
  const oddWord = wordOf(status)
  return { state: 'unknown', words: `status ${oddWord}`, oddWord }
}

function paidReply(order: Order, answer: JsonAnswer, standIn: string | undefined): Reply {
  const said = answer.currency
  const currency = standIn !== undefined && said === standIn ? order.currency : said
  const amount = parseSaid(String(answer.amount), currency, order.currency)
  if (typeof amount === 'string' || typeof currency !== 'string')
    return { state: 'unknown', words: 'SUCCESSFUL, with an amount that is none', acknowledged: true }
  const named = typeof answer.externalId === 'string' ? answer.externalId : ''
  return { state: 'paid', order: named, amount, currency, ...factsOf(answer) }
}

// A no is a no, whatever its reason; one that nobody knows is shown to the operator.
function failedReply(answer: JsonAnswer): Reply {
  const reason = reasonOf(answer.reason)
  const oddWord = reason ? undefined : wordOf(codeOf(answer.reason))
  return { state: 'failed', reason: reason ?? 'refused', ...(oddWord && { oddWord }), ...factsOf(answer) }
}

function factsOf({ financialTransactionId: id }: JsonAnswer): ReplyFacts {
  return (typeof id === 'string' && id !== '') || typeof id === 'number' ? { provider_ref: String(id) } : {}
}

// What is no answer to what we wanted to know.
export function unclear({ http, text, restMs: theirs }: Answered, acknowledged = false): Reply {
  const answer = readJson(text)
  const code = codeOf(answer)
  const what = code ?? (answer || text === '' ? '' : 'with a text that is no JSON')
  const rest = theirs ?? (http === 429 ? restMs : undefined)
  return {
    state: 'unknown',
    words: `HTTP ${http} ${what}`.trim(),
    ...(acknowledged && { acknowledged }),
    ...(rest !== undefined && { restMs: rest }),
  }
}

// A number could be anybody's, so only what has none is repeated.
const wordOf = (status: unknown) =>
  typeof status === 'string' && /^[A-Za-z_ -]{1,40}$/.test(status) ? status : 'that is no word'
