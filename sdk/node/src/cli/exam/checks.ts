import { sleep } from '../../transport.ts'
import type { HandlerAnswer } from '../delivery.ts'
import type { ExamGateway, ExamPayment } from './gateway.ts'
import type { ExaminedShop } from './shop.ts'

// One question of the exam. `run` returns what is wrong, or undefined.
export type Check = {
  name: string // also the anchor in the documentation
  title: string
  cure: string
  isRequired?: true // the other checks make no sense without it
  run(shop: ExaminedShop, gateway: ExamGateway): Promise<string | undefined>
}

const times = (count: number) => (count === 1 ? 'once' : `${count} times`)
export const answered = ({ http, problem }: HandlerAnswer): string =>
  http === undefined ? `It did not answer: ${problem}.` : `It answered HTTP ${http}.`

// Whether the order was delivered exactly as often as it should have been.
async function deliveriesAre(shop: ExaminedShop, payment: ExamPayment, expected: 0 | 1, context: string) {
  const { deliveries } = await shop.settled(payment, expected)
  if (deliveries === expected) return undefined
  return `${context} It delivered the order ${deliveries === 0 ? 'not at all' : times(deliveries)}.`
}

export const paid: Check = {
  name: 'paid',
  title: 'a paid notification delivers the order',
  cure: 'Verify the signature, ask the status, compare it with the order, and deliver if it is paid.',
  isRequired: true,
  async run(shop, gateway) {
    const payment = await shop.newOrder()
    payment.status = 'paid'
    const answer = await shop.notifyUntilAcknowledged(payment)
    const fault = await deliveriesAre(shop, payment, 1, `The payment is paid. ${answered(answer)}`)
    return fault && gateway.statusChecks(payment.invoiceId) === 0 ? fault + neverAsked(gateway) : fault
  },
}

export const acknowledged: Check = {
  name: 'acknowledged',
  title: 'a notification is answered 200, within 5 seconds',
  cure: 'Answer exactly HTTP 200 when the notification is handled: 201, 204 and redirects do not acknowledge it. Queue slow work.',
  async run(shop) {
    const payment = await shop.newOrder()
    payment.status = 'paid'
    const answer = await shop.notify(payment)
    if (answer.http !== 200)
      return `${answered(answer)} Only 200 acknowledges; after anything else it is sent again, for a day.`
    if (answer.ms <= 5000) return undefined
    return `It took ${answer.ms} ms. After 10 seconds the gateway gives up and sends it again.`
  },
}

const neverAsked = ({ url }: ExamGateway) =>
  ` The shop never asked the exam's gateway for the status: is its TOLLGATE_URL ${url}?`

export const failed: Check = {
  name: 'failed',
  title: 'a failed payment delivers nothing',
  cure: 'Deliver only if the status is paid. failed, cancelled and awaiting_payment are notified too.',
  async run(shop) {
    const payment = await shop.newOrder()
    payment.status = 'failed'
    const answer = await shop.notifyUntilAcknowledged(payment)
    return deliveriesAre(shop, payment, 0, `The payment failed. ${answered(answer)}`)
  },
}

export const duplicate: Check = {
  name: 'duplicate',
  title: 'the same notification three times delivers once',
  cure: 'Remember each invoice and status that is done, in the transaction that delivers, and answer 200 without delivering again.',
  async run(shop) {
    const payment = await shop.newOrder()
    payment.status = 'paid'
    for (let time = 1; time <= 3; time++) await shop.notifyUntilAcknowledged(payment)
    return deliveriesAre(shop, payment, 1, 'The gateway may send a notification more than once.')
  },
}

const copies = 5

export const concurrent: Check = {
  name: 'concurrent',
  title: 'five copies at the same time deliver once',
  cure: "Claim the invoice atomically before you deliver, for example by a unique key or `update ... where state <> 'paid'`. To read first and write later is too late.",
  async run(shop, gateway) {
    const payment = await shop.newOrder()
    payment.status = 'paid'
    // The answers to their status checks come at the same moment too, so that a race is found every time.
    gateway.faults.set(payment.invoiceId, 'hanging')
    const answers = Promise.all(Array.from({ length: copies }, () => shop.notify(payment)))
    for (let waited = 0; waited < 2000 && gateway.statusChecks(payment.invoiceId) < copies; waited += 50)
      await sleep(50)
    gateway.faults.delete(payment.invoiceId)
    gateway.releaseHanging()
    await answers
    await shop.notifyUntilAcknowledged(payment)
    return deliveriesAre(shop, payment, 1, 'Copies can arrive in parallel, at several processes.')
  },
}

export const reordered: Check = {
  name: 'reordered',
  title: 'an older notification that arrives later changes nothing',
  cure: 'Act on the status that the gateway answers now, not on the one in the notification. paid is final.',
  async run(shop) {
    const payment = await shop.newOrder()
    payment.status = 'paid'
    await shop.notifyUntilAcknowledged(payment, { sequence: 2 })
    const before = await shop.settled(payment, 1)
    await shop.notifyUntilAcknowledged(payment, { status: 'failed', sequence: 1 })
    const after = await shop.settled(payment, 1)
    if (before.deliveries === 0)
      return 'The payment is paid, and its first notification was late. The order was not delivered.'
    if (after.status !== before.status)
      return `The order was "${before.status}". After the late notification "failed" it is "${after.status}", and the customer has paid.`
    return after.deliveries > 1 ? `It delivered the order ${times(after.deliveries)}.` : undefined
  },
}

export const late: Check = {
  name: 'late',
  title: 'a payment that failed first and is paid later is delivered',
  cure: 'failed and cancelled are not final: money can arrive late. Only paid is final.',
  async run(shop) {
    const payment = await shop.newOrder()
    payment.status = 'failed'
    await shop.notifyUntilAcknowledged(payment, { sequence: 1 })
    payment.status = 'paid'
    const answer = await shop.notifyUntilAcknowledged(payment, { sequence: 2 })
    return deliveriesAre(shop, payment, 1, `The payment failed, and was paid afterwards. ${answered(answer)}`)
  },
}

export const extended: Check = {
  name: 'extended',
  title: 'a notification with unknown fields, accents and slashes is understood',
  cure: 'Verify the signature over the raw bytes of the body, not over JSON that was parsed and written again, and ignore keys that you do not know.',
  async run(shop) {
    const payment = await shop.newOrder()
    payment.status = 'paid'
    const more = { a_new_field: { note: 'Åsa, Ɛkua / 25.0 \u2713' }, status_reason: 'a/b "c" é' }
    const answer = await shop.notifyUntilAcknowledged(payment, { more })
    return deliveriesAre(shop, payment, 1, answered(answer))
  },
}

// Of the whole amount, so that a shop that compares amounts does not pass by chance.
const failedRefund = { refundId: 'EXAM-R', total: '25.00', state: 'failed' } as const

export const refunded: Check = {
  name: 'refunded',
  title: 'a notification of a refund is not taken for a status',
  cure: 'Read type before status: a body with the type refund has no status, and the payment stays as it is. Answer 200.',
  async run(shop) {
    const open = await shop.newOrder()
    open.refunds = [failedRefund]
    await shop.notify(open, { refund: failedRefund, sequence: 2 })
    const { deliveries } = await shop.settled(open, 0)
    if (deliveries > 0) return `The payment is not paid. The order was delivered ${times(deliveries)}.`
    const payment = await shop.newOrder()
    payment.status = 'paid'
    await shop.notifyUntilAcknowledged(payment)
    const before = await shop.settled(payment, 1)
    payment.refunds = [failedRefund]
    await shop.notify(payment, { refund: failedRefund, sequence: 2 })
    const after = await shop.settled(payment, before.deliveries)
    if (after.deliveries > before.deliveries) return `It delivered the order ${times(after.deliveries)}.`
    if (after.status === before.status) return undefined
    return `The order was "${before.status}". After the notification that a refund failed it is "${after.status}".`
  },
}
