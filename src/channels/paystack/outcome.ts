import type { Order } from '../../core/channel/order.ts'
import type { Reply, ReplyFacts } from '../../core/channel/reply.ts'
import type { JsonAnswer } from '../http/askJson.ts'
import { sampleOf } from './line.ts'
import { reasonOf } from './reasons.ts'

const notEnded = new Set<unknown>(['pending', 'ongoing', 'processing', 'queued', 'abandoned', 'timeout'])

// What verify says of a transaction: how it ended, or undefined where it has not. `abandoned` is said of every page that
// nobody has paid yet, and of prompts that are still open.
export function outcomeOf(order: Order, data: JsonAnswer): Reply | undefined {
  const { status } = data
  if (status === 'success') return paid(data)
  if (status === 'reversed') return paid(data, wholly(data))
  if (data.reference !== order.key) return { state: 'unknown', words: 'The answer is about another order.' }
  if (notEnded.has(status)) return undefined
  if (status === 'failed') return failed(order, data)
  return {
    state: 'unknown',
    words: `status ${sampleOf(status)}`,
    acknowledged: true,
    oddWord: sampleOf(status),
  }
}

const wholly = ({ amount }: JsonAnswer) => ({
  reversals: [{ id: 'charge', amount: subunits(amount) ?? 0n, words: 'Paystack reversed the transaction.' }],
})

// Amount, currency and order are told as Paystack tells them: whether they are ours is not decided here.
function paid(data: JsonAnswer, more: Pick<Reply & { state: 'paid' }, 'reversals'> = {}): Reply {
  const { reference, currency } = data
  const amount = subunits(data.amount)
  if (amount === undefined || typeof currency !== 'string')
    return { state: 'unknown', words: `paid ${shown(data.amount)} ${shown(currency)}`, acknowledged: true }
  const order = typeof reference === 'string' ? reference : ''
  const fee = subunits(data.fees)
  const costs = fee === undefined || fee > amount ? {} : { fee, net: amount - fee }
  return { state: 'paid', order, amount, currency, ...more, ...costs, ...factsOf(data) }
}

function failed(order: Order, data: JsonAnswer): Reply {
  const sentences = [data.gateway_response, data.message].filter(one => typeof one === 'string')
  const reason = reasonOf(sentences.join(' '), order.payment_method === 'card')
  return { state: 'failed', reason, ...factsOf(data) }
}

function factsOf(data: JsonAnswer): ReplyFacts {
  const { id, gateway_response, message, paid_at } = data
  const time = typeof paid_at === 'string' ? new Date(paid_at) : undefined
  const sentence = [gateway_response, message].find(one => typeof one === 'string' && one !== '')
  return {
    ...((typeof id === 'number' || typeof id === 'string') && { provider_ref: String(id) }),
    ...(typeof sentence === 'string' && { psp_response_msg: sentence }),
    ...(time && !Number.isNaN(time.getTime()) && { provider_time: time }),
    ...cardOf(data),
  }
}

// The card that was typed at Paystack, as far as a receipt may show it.
function cardOf({ channel, authorization }: JsonAnswer): ReplyFacts {
  if (channel !== 'card' || typeof authorization !== 'object' || authorization === null) return {}
  const { brand, last4 } = authorization as JsonAnswer
  if (typeof brand !== 'string' || !/^[a-z]/i.test(brand)) return {}
  const card_type = (brand.charAt(0).toUpperCase() + brand.slice(1)).trim()
  const isFour = typeof last4 === 'string' && /^\d{4}$/.test(last4)
  return { card_type, ...(isFour && { instrument: `${card_type} •••• ${last4}` }) }
}

// As a number or as its digits; what is neither is no amount.
function subunits(told: unknown): bigint | undefined {
  if (typeof told === 'number') return Number.isSafeInteger(told) && told >= 0 ? BigInt(told) : undefined
  return typeof told === 'string' && /^\d{1,15}$/.test(told) ? BigInt(told) : undefined
}

const shown = (told: unknown) => String(told).slice(0, 40)
