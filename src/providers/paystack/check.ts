import type { Order } from '../../core/provider/order.ts'
import type { Reply } from '../../core/provider/reply.ts'
import { cleanError } from '../../core/text.ts'
import type { JsonAnswer } from '../http/providerHttp.ts'
import { chargeReply, isClosed, isEnding, isOpen, isUnderWay } from './charge.ts'
import {
  isKeyRefused,
  isPaystackNotFound,
  isTooMuch,
  type PaystackClient,
  type PaystackResponse,
  paystackSample,
  unclearPaystackReply,
} from './client.ts'
import { isWallet } from './methods.ts'
import { readDisputes, readRefunds, reversalsOf, reversalsOfReversed } from './moneyBack.ts'
import { paidOf, refusedOf } from './outcome.ts'

const minutes = 60_000
const slackMs = minutes // between Paystack's clock and ours, and for the transfer of an order
const lostPageMs = 2 * minutes // after which no answer to a start is on its way any more
const declinedPageMs = 30 * minutes // a page whose card was declined in its last minute is still used
const longOverMs = 60 * minutes // after which nobody answers a prompt or a step, although Paystack still shows it
const maxWords = 200

type Asking = { line: PaystackClient; clock(): Date; order: Order; signal: AbortSignal }

// How an order stands. Only `verify` is a yes or a no. Its `abandoned` is not: it says that of every page that nobody has
// paid yet and of prompts that are still open, so the charge itself is asked as well.
export async function checkOrder(asking: Asking): Promise<Reply> {
  const { line, order, signal } = asking
  const said = await line.ask(`/transaction/verify/${encodeURIComponent(order.idempotency_key)}`, signal)
  if (isPaystackNotFound(said)) return { state: 'absent' }
  if (!said.isHandled) return unclearPaystackReply(said)
  const { data } = said
  const { status } = data
  if (status === 'success' || status === 'reversed') return acknowledged(paidReply(asking, data))
  if (data.reference !== order.idempotency_key) return otherOrder
  if (status === 'failed') return acknowledged(refusedReply(asking, data))
  if (isLeft(data) || isUnderWay(data)) return acknowledged(unfinishedReply(asking, data))
  const unknownCode = paystackSample(status)
  return { state: 'unknown', words: `status ${unknownCode}`, acknowledged: true, unknownCode }
}

export const otherOrder: Reply = { state: 'unknown', words: 'The answer is about another order.' }
const noAnswer: Reply = { state: 'failed', reason: 'no_answer' }
// Paystack names its page in the answer to a start and never again. If that answer was lost, nobody can pay there.
const lostPage: Reply = { state: 'failed', reason: 'provider_error' }

// Paystack has shown that it has the order, so a failed request after that leaves it acknowledged.
export async function acknowledged(replying: Reply | Promise<Reply>): Promise<Reply> {
  const reply = await Promise.resolve(replying).catch(
    (error: unknown): Reply => ({ state: 'unknown', words: cleanError(error, maxWords) }),
  )
  return reply.state === 'unknown' ? { ...reply, acknowledged: true } : reply
}

// A reversed charge is never reported without its refunds: core would take it for paid.
async function paidReply({ line, order, signal }: Asking, data: JsonAnswer): Promise<Reply> {
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
  const refunds = await readRefunds(line, transaction, signal)
  if (!Array.isArray(refunds)) return refunds
  const disputes = order.check_reversals ? await readDisputes(line, transaction, signal) : undefined
  if (disputes && !Array.isArray(disputes)) return disputes
  const reversals = isReversed
    ? reversalsOfReversed(transaction, refunds, disputes)
    : reversalsOf(refunds, disputes)
  if (!reversals) return { state: 'unknown', words: 'Reversed, and its refund is not processed yet.' }
  return { ...paid, reversals, ...(disputes && { disputes }) }
}

// A wallet charge that is still under way by its own word is open, whatever verify says. A card page stays open after a
// declined card.
async function refusedReply(asking: Asking, data: JsonAnswer): Promise<Reply> {
  const { clock, order } = asking
  if (!isWallet(order)) {
    const isPageOpen = clock().getTime() <= order.ends_at.getTime() + declinedPageMs
    return refusedOf(order, data, isPageOpen ? 'declined' : 'failed')
  }
  const charge = await readCharge(asking)
  if (isUnanswered(charge)) return unclearPaystackReply(charge)
  if (charge.data.reference === order.idempotency_key && isUnderWay(charge.data))
    return chargeReply(order, charge.data)
  return refusedOf(order, data, 'failed')
}

// `abandoned` and `timeout`: the customer has left it, or has not come to it yet.
const isLeft = ({ status }: JsonAnswer) => status === 'abandoned' || status === 'timeout'

const readCharge = ({ line, order, signal }: Asking) =>
  line.ask(`/charge/${encodeURIComponent(order.idempotency_key)}`, signal)

const isUnanswered = (said: PaystackResponse) => said.http >= 500 || isTooMuch(said) || isKeyRefused(said)

function unfinishedReply(asking: Asking, data: JsonAnswer): Reply | Promise<Reply> {
  const { clock, order } = asking
  const sinceSentMs = clock().getTime() - order.sent_at.getTime()
  const isOver = isLeft(data) && clock().getTime() > order.ends_at.getTime() + slackMs
  if (isWallet(order)) return unfinishedCharge(asking, isOver, isOver && sinceSentMs > longOverMs)
  const isLost = isLeft(data) && order.redirect_url === null && sinceSentMs > lostPageMs
  return isOver ? noAnswer : isLost ? lostPage : { state: 'pending' }
}

// Verify does not tell what is asked of the customer; the charge itself does.
async function unfinishedCharge(asking: Asking, isOver: boolean, isLongOver: boolean): Promise<Reply> {
  const { order } = asking
  const said = await readCharge(asking)
  const { data } = said
  if (!said.isHandled && !isPaystackNotFound(said)) return unclearPaystackReply(said)
  if (data.reference !== undefined && data.reference !== order.idempotency_key) return otherOrder
  if (isOver && (isClosed(data) || (isLongOver && isOpen(data)))) return noAnswer
  return typeof data.status === 'string' && !isEnding(data) ? chargeReply(order, data) : { state: 'pending' }
}
