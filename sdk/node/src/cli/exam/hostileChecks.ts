import { deliveryHeaders, gatewayTimeoutMs, type HandlerAnswer, post } from '../delivery.ts'
import { answered, type Check } from './checks.ts'
import type { ExamPayment } from './gateway.ts'
import type { ExaminedShop } from './shop.ts'

const otherSecret = 'whsec_dGhlIGV4YW0gc2lnbnMgZm9yZ2VyaWVzIHdpdGggdGhpcw=='

// Notifications that the gateway did not send, with what is wrong with each.
export const forged = (ipnUrl: string, ipnSecret: string): Check => ({
  name: 'forged',
  title: 'a notification without the right signature is refused',
  cure: 'Verify webhook-signature over the raw body with your signing secret, and answer 401 if it does not match.',
  async run(shop) {
    const payment = await shop.newOrder()
    const body = shop.bodyOf(payment, { status: 'paid' })
    const delivery = { id: `${payment.reference}-N1`, sequence: 1, attempt: 1 }
    const signedFailed = await deliveryHeaders(
      { ...delivery, body: shop.bodyOf(payment, { status: 'failed' }) },
      ipnSecret,
    )
    const answers = {
      'without a signature': await post(ipnUrl, body, { 'content-type': 'application/json' }),
      'signed with another secret': await shop.notify(payment, { status: 'paid' }, otherSecret),
      'with a changed body': await post(ipnUrl, body, signedFailed),
    }
    const accepted = Object.entries(answers).filter(([, { http }]) => http === 200)
    const { deliveries } = await shop.settled(payment, 0)
    if (deliveries > 0)
      return `Anyone can make it deliver: it delivered an unpaid order after a forged notification.`
    if (accepted.length > 0)
      return `It answered 200 to a notification ${accepted.map(([how]) => how).join(', ')}.`
    return undefined
  },
})

export const replayed: Check = {
  name: 'replayed',
  title: 'a copy of an old notification is refused',
  cure: 'Refuse a webhook-timestamp that is more than 5 minutes away from now. Every try of the gateway has a new one.',
  async run(shop) {
    const payment = await shop.newOrder()
    payment.status = 'failed'
    const { http } = await shop.notify(payment, { sentAt: new Date(Date.now() - 3_600_000) })
    return http === 200 ? 'It answered 200 to a notification that was signed an hour ago.' : undefined
  },
}

export const unconfirmed: Check = {
  name: 'unconfirmed',
  title: 'a notification alone delivers nothing: the status is asked',
  cure: 'Ask GET /v1/gateway/json_status_chk, and deliver only if it answers paid. A notification is a reason to ask, not a proof.',
  async run(shop, gateway) {
    const payment = await shop.newOrder()
    await shop.notify(payment, { status: 'paid' })
    const { deliveries } = await shop.settled(payment, 0)
    if (deliveries === 0) return undefined
    const asked =
      gateway.statusChecks(payment.invoiceId) === 0 ? 'did not ask for the status' : 'ignored the status'
    return `The gateway says awaiting_payment, the notification says paid. The shop ${asked} and delivered.`
  },
}

export const wrongAmount: Check = {
  name: 'wrong-amount',
  title: 'a payment of another amount than the order delivers nothing',
  cure: 'Compare amount of the status with the total of your own order, as minor units or decimals, never as floats.',
  async run(shop) {
    for (const notified of ['0.25', '25.00']) {
      const payment = await shop.newOrder()
      payment.status = 'paid'
      payment.total = '0.25'
      await shop.notify(payment, { total: notified })
      const { deliveries } = await shop.settled(payment, 0)
      if (deliveries > 0)
        return `The order costs 25.00, and 0.25 was paid${notified === '25.00' ? ' (the notification says 25.00, the status 0.25)' : ''}. It delivered.`
    }
    return undefined
  },
}

export const wrongCurrency: Check = {
  name: 'wrong-currency',
  title: 'a payment in another currency than the order delivers nothing',
  cure: 'Compare currency of the status with that of your own order.',
  async run(shop) {
    const payment = await shop.newOrder()
    payment.status = 'paid'
    payment.currency = 'NGN'
    await shop.notify(payment)
    const { deliveries } = await shop.settled(payment, 0)
    return deliveries > 0 ? 'The order costs GHS 25.00, and NGN 25.00 was paid. It delivered.' : undefined
  },
}

export const unknownInvoice: Check = {
  name: 'unknown-invoice',
  title: 'a notification of an order that the shop does not have is not acknowledged',
  cure: 'Answer 503 for an order that you do not find: it may be stored a moment later, and after 200 the notification never comes again.',
  async run(shop) {
    const payment = shop.newPayment({ status: 'paid' })
    const answer = await shop.notify(payment)
    if (answer.http === undefined) return answered(answer)
    return answer.http === 200
      ? 'It answered 200 for an order that it does not have: the payment is lost to the shop.'
      : undefined
  },
}

export const early: Check = {
  name: 'early',
  title: 'a notification before the answer of the payment request is not lost',
  cure: 'Store the order before you request its payment, find it by your own invoice_id, and answer 503 while something is missing.',
  async run(shop, gateway) {
    const payment = shop.newPayment({ status: 'paid' })
    const hold = gateway.holdInitiation(payment.invoiceId)
    const created = shop.createOrder(payment)
    created.catch(() => {}) // reported by the await below
    const isRequested = await Promise.race([
      hold.arrived.then(() => true),
      created.then(() => false), // this shop stores the order without requesting its payment
    ])
    const answer = await shop.notify(payment)
    hold.release()
    await created
    if (answer.http !== 200) await shop.notifyUntilAcknowledged(payment)
    const { deliveries } = await shop.settled(payment, 1)
    if (deliveries === 1) return undefined
    const when = isRequested ? 'while its payment was being requested' : 'right after the order was stored'
    return `The notification came ${when}. ${answered(answer)} In the end it delivered the order ${deliveries} times.`
  },
}

export const statusDown: Check = {
  name: 'status-down',
  title: 'while the status cannot be asked, nothing is acknowledged or delivered',
  cure: 'If the status check fails, answer 503. The gateway sends the notification again.',
  async run(shop, gateway) {
    const payment = await shop.newOrder()
    payment.status = 'paid'
    gateway.faults.set(payment.invoiceId, 'unavailable')
    const answer = await shop.notify(payment)
    const during = await shop.settled(payment, 0)
    gateway.faults.delete(payment.invoiceId)
    if (during.deliveries > 0)
      return 'The gateway answered 503 to the status check. It delivered without knowing the status.'
    return deliveredAfterwards(shop, payment, answer, 'The gateway answered 503 to the status check.')
  },
}

export const statusSlow: Check = {
  name: 'status-slow',
  title: 'a status check that hangs does not hang the endpoint',
  cure: `Give the status check a timeout of a few seconds, and answer 503 after it: the gateway waits ${gatewayTimeoutMs / 1000} seconds.`,
  async run(shop, gateway) {
    const payment = await shop.newOrder()
    payment.status = 'paid'
    gateway.faults.set(payment.invoiceId, 'hanging')
    const answer = await shop.notify(payment)
    gateway.faults.delete(payment.invoiceId)
    gateway.releaseHanging()
    const context = 'The gateway did not answer the status check.'
    if (answer.http === undefined) return `${context} ${answered(answer)}`
    return deliveredAfterwards(shop, payment, answer, context)
  },
}

// A shop with a queue of its own may acknowledge first, if it delivers by itself later.
async function deliveredAfterwards(
  shop: ExaminedShop,
  payment: ExamPayment,
  first: HandlerAnswer,
  context: string,
): Promise<string | undefined> {
  const isAcknowledged = first.http === 200
  const last = isAcknowledged ? first : await shop.notifyUntilAcknowledged(payment)
  const { deliveries } = await shop.settled(payment, 1)
  if (deliveries === 1) return undefined
  if (isAcknowledged && deliveries === 0)
    return `${context} It acknowledged and did not deliver later: the payment is lost to the shop.`
  return `${context} When it answered again, the shop delivered ${deliveries} times. ${answered(last)}`
}
