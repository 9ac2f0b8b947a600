// A shop on @tollgate/merchant: what a correct integration needs, and nothing else. server.js serves it on a port. A
// gateway with the demo merchant serves it at its own first address.
import { randomBytes, randomInt } from 'node:crypto'

/** @typedef {import('@tollgate/merchant').Tollgate} Tollgate */
/** @typedef {import('@tollgate/merchant').PaymentStatus} PaymentStatus */
/** @typedef {{ name?: string, phone?: string, email?: string }} Customer */
/** @typedef {{ id: string, name: string, about: string, total: string }} Article */
/** @typedef {{ invoiceId: string, article: string, total: string, currency: string, state: 'new' | PaymentStatus }} Order */

/**
 * Where the orders are stored. `find` returns undefined if there is no such order.
 * @typedef {{ save(order: Order): Promise<unknown>, find(invoiceId: string): Promise<Order | undefined> }} Orders
 */

/** @type {readonly Article[]} */
export const articles = [
  { id: 'hat', name: 'Straw hat', about: 'Woven in Bolgatanga', total: '25.00' },
  { id: 'scarf', name: 'Kente scarf', about: 'Hand loom, Bonwire', total: '60.00' },
  { id: 'butter', name: 'Shea butter', about: '250 g, from Tamale', total: '18.50' },
]

// Test mode only: the last digits of the customer's number decide how the sandbox ends the payment.
export const endings = [
  { id: 'phone', label: 'I decide on the phone', digits: '567' },
  { id: 'paid', label: 'Paid', digits: '000' },
  { id: 'declined', label: 'Declined', digits: '003' },
  { id: 'no_money', label: 'No money', digits: '002' },
  { id: 'no_answer', label: 'No answer', digits: '004' },
  { id: 'late', label: 'Late', digits: '007' },
]

/**
 * @param {object} options
 * @param {Pick<Tollgate, 'initiate' | 'status' | 'refund'>} options.tollgate
 * @param {Orders} options.orders
 * @param {import('@tollgate/merchant').NotificationStore} options.store
 * @param {{ ipn: string, back(invoiceId: string): string }} options.addresses of this shop, as the gateway sees them
 * @param {(order: Order) => unknown} options.deliver packs the parcel
 * @param {(invoiceId: string, ending?: string) => Customer} [options.customerOf]
 */
export function createShop({ tollgate, orders, store, addresses, deliver, customerOf = demoCustomer }) {
  /**
   * Stores the order, then requests the payment. The order comes first: a notification may arrive before the answer.
   * If `initiate` throws, the order stays `new`. Calling it again with the same order is safe.
   * @param {Article} article
   * @param {{ ending?: string | undefined, extra?: Record<string, string> | undefined, invoiceId?: string }} [options]
   */
  async function buy(article, { ending, extra, invoiceId = newInvoiceId() } = {}) {
    const { id, name, total } = article
    /** @type {Order} */
    const order = { invoiceId, article: id, total, currency: 'GHS', state: 'new' }
    await orders.save(order)
    const { checkoutUrl } = await tollgate.initiate({
      invoiceId,
      total,
      description: name,
      customer: customerOf(invoiceId, ending),
      ipnUrl: addresses.ipn,
      successUrl: addresses.back(invoiceId),
      cancelledUrl: addresses.back(invoiceId),
      deferredUrl: addresses.back(invoiceId),
      extra: { article: id, ...extra },
    })
    return { order, checkoutUrl }
  }

  /**
   * The customer came back. That proves nothing, because anyone can type the address: the gateway is asked.
   * @param {string} invoiceId
   */
  async function orderAfterReturn(invoiceId) {
    const order = await orders.find(invoiceId)
    if (!order || order.state === 'paid') return order
    const payment = await tollgate.status({ invoiceId })
    const isRight = payment.amount === order.total && payment.currency === order.currency
    return isRight ? setState(order, payment.status) : order
  }

  /**
   * Returns the money of a paid order. The id of the refund is made from that of the order, so a double click, or a call
   * that is repeated after a timeout, refunds once.
   * @param {string} invoiceId
   */
  async function refund(invoiceId) {
    const order = await orderAfterReturn(invoiceId)
    if (order?.state !== 'paid') return undefined
    return tollgate.refund({ refundId: `R-${invoiceId}`, invoiceId, amount: order.total, reason: 'Returned' })
  }

  /**
   * Notifications and returns may come in any order and twice, so this is idempotent, and paid is final.
   * @param {Order} order
   * @param {PaymentStatus} state
   */
  async function setState(order, state) {
    const stored = (await orders.find(order.invoiceId)) ?? order
    if (stored.state === 'paid' || stored.state === state) return stored
    const changed = { ...stored, state }
    await orders.save(changed)
    return changed
  }

  /**
   * For `handleNotification` and `notificationListener`, which verify the signature, ask the gateway for the status and
   * compare amount, currency and invoice with the order before they call `onStatus`, once for each invoice and status.
   * So the parcel is packed here only, and not when the customer returns.
   * @type {import('@tollgate/merchant').NotificationRules<Order>}
   */
  const notificationRules = {
    store,
    findOrder: invoiceId => orders.find(invoiceId),
    async onStatus({ order, status }) {
      if (status === 'paid') await deliver(order)
      await setState(order, status)
    },
  }

  return { buy, orderAfterReturn, refund, notificationRules }
}

const alphabet = '23456789ABCDEFGHJKMNPQRSTVWXYZ'

// Nobody can guess the id of another customer's order.
const newInvoiceId = () =>
  `DEMO-${Array.from(randomBytes(12), byte => alphabet[byte % alphabet.length]).join('')}`

/**
 * A real shop passes what its customer has typed. The customer gets a receipt by SMS and email at these addresses.
 * @param {string} invoiceId
 * @param {string} [ending]
 * @returns {Customer}
 */
export function demoCustomer(invoiceId, ending) {
  const digits = endings.find(({ id }) => id === ending)?.digits
  const number = String(randomInt(10_000)).padStart(4, '0')
  return {
    name: 'Ama Mensah',
    email: `${invoiceId.toLowerCase()}@example.com`,
    ...(digits && { phone: `024${number}${digits}` }),
  }
}
