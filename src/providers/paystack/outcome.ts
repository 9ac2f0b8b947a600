import type { Order } from '../../core/provider/order.ts'
import type { Reply, ReplyFacts } from '../../core/provider/reply.ts'
import type { JsonAnswer } from '../http/providerHttp.ts'
import { reasonOf } from './reasons.ts'
import { idOf, subunits, timeOf } from './values.ts'

// A charge that took money. Amount, currency and order are reported as Paystack gives them; core compares them.
export function paidOf({ amount: asked }: Order, data: JsonAnswer): Reply {
  const { reference, currency } = data
  const order = typeof reference === 'string' ? reference : ''
  const charged = subunits(data.amount)
  if (charged === undefined || typeof currency !== 'string') {
    const words = `Paystack says paid: ${shown(data.amount)} ${shown(currency)}, which is no amount.`
    return { state: 'paid_mismatch', order, words, ...factsOf(data) }
  }
  const fee = subunits(data.fees)
  const costs = fee === undefined || fee > charged ? {} : { fee, net: charged - fee }
  const amounts = isFeeAdded(asked, data) ? { amount: asked, charged } : { amount: charged }
  return { state: 'paid', order, currency, ...amounts, ...costs, ...factsOf(data) }
}

// Where the business lets customers bear the fee, Paystack adds it to the amount that was requested.
function isFeeAdded(asked: bigint, data: JsonAnswer): boolean {
  const [charged, requested, fee] = [data.amount, data.requested_amount, data.fees].map(subunits)
  return (
    requested === asked && charged !== undefined && fee !== undefined && fee > 0n && charged === asked + fee
  )
}

// `declined`: on a page that is still open, where the customer may try another card.
export function refusedOf(order: Order, data: JsonAnswer, state: 'failed' | 'declined'): Reply {
  const sentences = [data.gateway_response, data.message].filter(one => typeof one === 'string')
  const reason = reasonOf(sentences.join(' '), order.payment_method === 'card')
  return { state, reason, ...factsOf(data) }
}

function factsOf(data: JsonAnswer): ReplyFacts {
  const { gateway_response, message } = data
  const provider_ref = idOf(data.id)
  const provider_time = timeOf(data.paid_at) ?? lastErrorAt(data.log)
  const sentence = [gateway_response, message].find(one => typeof one === 'string' && one !== '')
  return {
    ...(provider_ref !== undefined && { provider_ref }),
    ...(typeof sentence === 'string' && { psp_response_msg: sentence }),
    ...(provider_time && { provider_time }),
    ...cardOf(data),
  }
}

// When a card was last declined on Paystack's page. Its log counts seconds from the start of the page.
function lastErrorAt(log: unknown): Date | undefined {
  const { start_time, history } = (log ?? {}) as JsonAnswer
  if (typeof start_time !== 'number' || !Array.isArray(history)) return undefined
  const errors = (history as (JsonAnswer | null)[]).filter(entry => entry?.type === 'error')
  const after = errors.at(-1)?.time
  return typeof after === 'number' ? new Date((start_time + after) * 1000) : undefined
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

const shown = (told: unknown) => String(told).slice(0, 40)
