import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { testIpnSecret } from '../../../sdk/node/src/testing.ts'
import { type AtEnd, bodyOf, serve } from './handler.ts'

// The mistakes that the exam must find, in a shop that was written without the SDK and is right otherwise.
export type Fault =
  | 'no signature check'
  | 'no time check'
  | 'signature over parsed JSON'
  | 'no status check'
  | 'no comparison of amounts'
  | 'no comparison of currencies'
  | 'no memory of what was delivered'
  | 'reads before it writes'
  | 'acknowledges unknown orders'
  | 'needs the reference of the request'
  | 'failed is final'
  | 'state of the notification'
  | 'acknowledges without a status'
  | 'waits for the status for ever'
  | 'delivers at any status'
  | 'answers 204'
  | 'takes a refund for a status'

type Order = {
  total: string
  currency: string
  state: string
  deliveries: number
  reference?: string
  done: Set<string>
}
type Fields = Record<string, string | number>

const key = Buffer.from(testIpnSecret.replace('whsec_', ''), 'base64')

// The endpoints of the shop: /ipn and /exam.
export function openFaultyShop(gatewayUrl: string, fault?: Fault, atEnd?: AtEnd): Promise<string> {
  const orders = new Map<string, Order>()
  const has = (name: Fault) => fault === name

  function isGenuine(body: string, headers: IncomingMessage['headers']): boolean {
    const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature } = headers
    const age = Math.abs(Date.now() / 1000 - Number(time))
    if (!has('no time check') && !(age <= 300)) return false
    const signed = has('signature over parsed JSON') ? asPhpWrites(body) : body
    const expected = createHmac('sha256', key)
      .update(`${String(id)}.${String(time)}.${signed}`)
      .digest()
    const sent = Buffer.from(String(signature).replace('v1,', ''), 'base64')
    return has('no signature check') || (sent.length === 32 && timingSafeEqual(sent, expected))
  }

  async function statusOf(invoice_id: string): Promise<Fields> {
    const query = new URLSearchParams({ merchant_key: 'tk_exam', invoice_id }).toString()
    const signal = has('waits for the status for ever') ? null : AbortSignal.timeout(3000)
    const response = await fetch(`${gatewayUrl}/v1/gateway/json_status_chk?${query}`, { signal })
    if (!response.ok) throw new Error(`HTTP ${response.status}`)
    return (await response.json()) as Fields
  }

  async function handle(notification: Fields): Promise<number> {
    const invoice = String(notification.invoice_id)
    const order = orders.get(invoice)
    if (!order) return has('acknowledges unknown orders') ? 200 : 503
    if (has('needs the reference of the request') && order.reference !== notification.tx_reference) return 200
    if (has('takes a refund for a status') && notification.type === 'refund') {
      order.state = String(notification.state)
      return 200
    }
    let payment = notification
    try {
      if (!has('no status check')) payment = await statusOf(invoice)
    } catch {
      return has('acknowledges without a status') ? 200 : 503
    }
    if (!has('no comparison of amounts') && Number(payment.amount) !== Number(order.total)) return 500
    if (!has('no comparison of currencies') && payment.currency !== order.currency) return 500
    return change(order, String(payment.status), String(notification.status))
  }

  async function change(order: Order, status: string, notified: string): Promise<number> {
    if (has('failed is final') && order.state === 'failed') return 200
    const acknowledged = has('answers 204') ? 204 : 200
    if (has('state of the notification')) order.state = notified
    if (order.done.has(status) && !has('no memory of what was delivered')) return acknowledged
    if (has('reads before it writes')) await sleep(50)
    order.done.add(status)
    if (!has('state of the notification') && (order.state !== 'paid' || has('no status check')))
      order.state = status
    if (status === 'paid' || has('delivers at any status')) order.deliveries++
    return acknowledged
  }

  async function examine({ exam, invoice_id, total, currency }: Fields): Promise<[number, unknown]> {
    const invoice = String(invoice_id)
    if (exam === 'read_order') {
      const { state: status, deliveries } = orders.get(invoice) ?? { state: 'none', deliveries: 0 }
      return [200, { status, deliveries }]
    }
    if (exam !== 'create_order') return [400, {}]
    const order: Order = {
      total: String(total),
      currency: String(currency),
      state: 'new',
      deliveries: 0,
      done: new Set(),
    }
    orders.set(invoice, order)
    order.reference = await initiate(gatewayUrl, invoice, order.total)
    return [200, {}]
  }

  async function answer(request: IncomingMessage, response: ServerResponse) {
    const body = await bodyOf(request)
    if (request.url === '/exam') {
      const [http, json] = await examine(JSON.parse(body) as Fields)
      response.writeHead(http).end(JSON.stringify(json))
    } else if (isGenuine(body, request.headers))
      response.writeHead(await handle(JSON.parse(body) as Fields)).end()
    else response.writeHead(401).end()
  }
  return serve(answer, atEnd)
}

async function initiate(gatewayUrl: string, invoice_id: string, total: string): Promise<string> {
  const text = `invoice_id=${invoice_id}&merchant_key=tk_exam&total=${total}`
  const secure_hash = createHmac('sha256', 'a secret for the exam only').update(text).digest('hex')
  const body = JSON.stringify({
    merchant_key: 'tk_exam',
    invoice_id,
    total,
    generate_checkout_url: true,
    secure_hash,
  })
  const response = await fetch(`${gatewayUrl}/v1/mobile_agents_v2`, { method: 'POST', body })
  return ((await response.json()) as { tx_reference: string }).tx_reference
}

// PHP escapes slashes and everything that is not ASCII.
const asPhpWrites = (body: string) =>
  JSON.stringify(JSON.parse(body))
    .replaceAll('/', '\\/')
    .replace(/[\u0080-\uffff]/g, letter => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
