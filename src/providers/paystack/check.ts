import type { Order } from '../../core/provider/order.ts'
import type { Reply } from '../../core/provider/reply.ts'
import { cleanError } from '../../core/text.ts'
import type { JsonAnswer } from '../http/providerHttp.ts'
import { type PaystackClient, paystackErrorKind, paystackSample, unclearPaystackReply } from './client.ts'
import { isWallet } from './methods.ts'
import { readDisputes, readRefunds, reversalsOf, reversalsOfReversed } from './moneyBack.ts'
import {
  chargeReply,
  isAwaitingCustomer,
  isEnding,
  isUnderWay,
  isUnpayable,
  paidOf,
  unpaidOf,
} from './replies.ts'

const minutes = 60_000
const slackMs = minutes // for clock differences and the transfer of an order
const lostPageMs = 2 * minutes // after which a start cannot be answered any more
const declinedPageMs = 30 * minutes // a customer whose card was declined in the last minute may try another
const longOverMs = 60 * minutes // after which a prompt or a step is dead, although Paystack still reports it
const maxWords = 200

export type PaystackCall = { client: PaystackClient; clock(): Date; order: Order; signal: AbortSignal }

// The status of an order. Only `verify` decides, and its `abandoned` does not: Paystack reports that for pages that are not
// paid yet and for open prompts, so the charge itself is read as well.
export async function checkOrder(call: PaystackCall): Promise<Reply> {
  const { client, order, signal } = call
  const response = await client.ask(
    `/transaction/verify/${encodeURIComponent(order.idempotency_key)}`,
    signal,
  )
  if (paystackErrorKind(response) === 'not_found') return { state: 'absent' }
  if (!response.isHandled) return unclearPaystackReply(response)
  const { data } = response
  const { status } = data
  if (status === 'success' || status === 'reversed') return acknowledged(paidReply(call, data))
  if (data.reference !== order.idempotency_key) return otherOrder
  if (status === 'failed') return acknowledged(unpaidReply(call, data))
  if (isAbandoned(data) || isUnderWay(data)) return acknowledged(unfinishedReply(call, data))
  const unknownCode = paystackSample(status)
  return { state: 'unknown', words: `status ${unknownCode}`, acknowledged: true, unknownCode }
}

export const otherOrder: Reply = { state: 'unknown', words: 'The answer is about another order.' }
const noAnswer: Reply = { state: 'failed', reason: 'no_answer' }
// Only the reply to a start contains the address of Paystack's page. If that reply was lost, the customer cannot pay there.
const lostPage: Reply = { state: 'failed', reason: 'provider_error' }

// Paystack has shown that it has the order, so it stays acknowledged if a later request fails.
export async function acknowledged(replying: Reply | Promise<Reply>): Promise<Reply> {
  const reply = await Promise.resolve(replying).catch(
    (error: unknown): Reply => ({ state: 'unknown', words: cleanError(error, maxWords) }),
  )
  return reply.state === 'unknown' ? { ...reply, acknowledged: true } : reply
}

// A reversed charge is never returned without its refunds: core would treat it as paid.
async function paidReply({ client, order, signal }: PaystackCall, data: JsonAnswer): Promise<Reply> {
  const paid = paidOf(order, data)
  const isReversed = data.status === 'reversed'
  if (paid.state !== 'paid' || paid.order !== order.idempotency_key) return paid
  if (!isReversed && !order.check_reversals) return paid
  if (paid.provider_ref === undefined) return { state: 'unknown', words: 'The transaction has no id.' }
  const charged = paid.charged ?? (paid.amount as bigint)
  const transaction = {
    id: paid.provider_ref,
    reference: order.idempotency_key,
    charged,
    startedAt: order.started_at,
  }
  const refunds = await readRefunds(client, transaction, signal)
  if (!Array.isArray(refunds)) return refunds
  const disputes = order.check_reversals ? await readDisputes(client, transaction, signal) : undefined
  if (disputes && !Array.isArray(disputes)) return disputes
  const reversals = isReversed
    ? reversalsOfReversed(transaction, refunds, disputes)
    : reversalsOf(refunds, disputes)
  if (!reversals) return { state: 'unknown', words: 'Reversed, and its refund is not processed yet.' }
  return { ...paid, reversals, ...(disputes && { disputes }) }
}

// A wallet charge is open if the status of the charge itself is under way, whatever `verify` reports. A card page stays open
// after a declined card.
async function unpaidReply(call: PaystackCall, data: JsonAnswer): Promise<Reply> {
  const { clock, order } = call
  if (!isWallet(order)) {
    const isPageOpen = clock().getTime() <= order.ends_at.getTime() + declinedPageMs
    return unpaidOf(order, data, isPageOpen ? 'declined' : 'failed')
  }
  const charge = await readCharge(call)
  const kind = paystackErrorKind(charge)
  if (charge.http >= 500 || kind === 'rate_limited' || kind === 'key_refused')
    return unclearPaystackReply(charge)
  if (charge.data.reference === order.idempotency_key && isUnderWay(charge.data))
    return chargeReply(order, charge.data)
  return unpaidOf(order, data, 'failed')
}

// The customer has left the page or prompt, or has not reached it yet.
const isAbandoned = ({ status }: JsonAnswer) => status === 'abandoned' || status === 'timeout'

const readCharge = ({ client, order, signal }: PaystackCall) =>
  client.ask(`/charge/${encodeURIComponent(order.idempotency_key)}`, signal)

function unfinishedReply(call: PaystackCall, data: JsonAnswer): Reply | Promise<Reply> {
  const { clock, order } = call
  const sinceSentMs = clock().getTime() - order.sent_at.getTime()
  const isOver = isAbandoned(data) && clock().getTime() > order.ends_at.getTime() + slackMs
  if (isWallet(order)) return unfinishedCharge(call, isOver, isOver && sinceSentMs > longOverMs)
  const isLost = isAbandoned(data) && order.redirect_url === null && sinceSentMs > lostPageMs
  return isOver ? noAnswer : isLost ? lostPage : { state: 'pending' }
}

// `verify` does not say what the customer has to do; the charge does.
async function unfinishedCharge(call: PaystackCall, isOver: boolean, isLongOver: boolean): Promise<Reply> {
  const { order } = call
  const response = await readCharge(call)
  const { data } = response
  if (!response.isHandled && paystackErrorKind(response) !== 'not_found')
    return unclearPaystackReply(response)
  if (data.reference !== undefined && data.reference !== order.idempotency_key) return otherOrder
  if (isOver && (isUnpayable(data) || (isLongOver && isAwaitingCustomer(data)))) return noAnswer
  return typeof data.status === 'string' && !isEnding(data) ? chargeReply(order, data) : { state: 'pending' }
}
