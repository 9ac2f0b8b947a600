import { setTimeout as sleep } from 'node:timers/promises'
import { refundString } from '../../src/core/interface/signature.ts'
import { checkPath, mobileMoney } from '../support/merchant/load.ts'
import { type Answer, send, sign, signedRequest } from '../support/merchant/merchant.ts'
import { createRandom } from '../support/random.ts'
import { declinedAmounts, type Installation, type TortureShop } from './installation.ts'
import type { TestedNode } from './nodes.ts'

// What a shop has requested, and what it was answered.
export type Sale = {
  during: string // the fault at that time
  merchant_id: string
  invoice_id: string
  total: string
  references: string[] // of all answers 200
  refused?: string // a refusal that is final: the request was wrong
  cancelAcknowledged?: true
  paidAcknowledged?: true // by a status check
  refunds: SaleRefund[]
}
export type SaleRefund = { refund_id: string; amount: string; isAcknowledged: boolean; refused?: string }

// Each request of a shop or a customer, with its answer. http 0: none.
export type Sent = {
  during: string
  node: string
  merchant_id: string
  at: number
  ms: number
  http: number
}

export type Load = {
  sales: Sale[]
  sent: Sent[]
  during: string // set by the rounds
  // Requests a payment of one node, once, as one of the shops. Returns whether it was answered with 200 in time.
  probe(node: TestedNode, patienceMs: number, of?: readonly TortureShop[]): Promise<boolean>
  pause(): Promise<void> // ends when every request has its answer
  resume(): void
}

const restMs = 150
const retryMs = 100
const patienceMs = 8000 // longer than the gateway takes to answer that its database is unavailable
const mostWaiting = 5 // payments of one customer that are not paid yet
const requestPath = '/v1/mobile_agents_v2'
const json = { 'content-type': 'application/json' }

// Customers who buy one thing after the other at any node, as behind a load balancer. A request without a clear answer is
// repeated until it has one, sometimes on two nodes at once.
export function startLoad({ nodes, shops }: Installation, seed: number, customersOfEach = 4): Load {
  const { random, pick } = createRandom(seed)
  const chance = (share: number) => random() < share
  const load: Load = { sales: [], sent: [], during: '', probe, pause, resume }
  let over = new AbortController()
  let running: Promise<void>[] = []
  let count = 0
  const prefix = `${Date.now().toString(36)}${seed.toString(36)}`

  const anyNode = () => {
    const up = nodes.filter(node => node.isUp())
    return pick(up.length > 0 ? up : nodes)
  }

  async function ask({ provider: { merchant_id } }: TortureShop, path: string, init: RequestInit) {
    const node = anyNode()
    const at = performance.now()
    const one: Sent = { during: load.during, node: node.name, merchant_id, at, ms: 0, http: 0 }
    load.sent.push(one)
    const answer = await sendWithin(patienceMs, node.url + path, init)
    one.http = answer?.http ?? 0
    one.ms = performance.now() - at
    return answer
  }

  // Repeats the request until its answer is final.
  async function insist(shop: TortureShop, path: string, init: RequestInit): Promise<Answer> {
    for (;;) {
      const answer = await ask(shop, path, init)
      if (answer && answer.http < 500 && answer.http !== 429) return answer
      await sleep(retryMs)
    }
  }

  function newSale({ provider }: TortureShop, invoice_id: string, total: string): Sale {
    const { during } = load
    const sale: Sale = {
      during,
      merchant_id: provider.merchant_id,
      invoice_id,
      total,
      references: [],
      refunds: [],
    }
    load.sales.push(sale)
    return sale
  }

  const newInvoice = () => `${prefix}-${++count}`
  const aTotal = () =>
    chance(0.06) ? pick(declinedAmounts) : (10 + Math.floor(random() * 9000) / 100).toFixed(2)
  const aPhone = () => `024${String(1_000_000 + Math.floor(random() * 8_999_999))}`

  async function requestDirect(shop: TortureShop): Promise<Sale> {
    const [invoice_id, total] = [newInvoice(), aTotal()]
    const request = mobileMoney(shop.provider.shop, aPhone(), {
      invoice_id,
      total,
      email: 'ama@example.test',
    })
    const sale = newSale(shop, invoice_id, total)
    const times = chance(0.1) ? 2 : 1
    const answers = Array.from({ length: times }, () => insist(shop, requestPath, posted(request)))
    for (const answer of await Promise.all(answers)) note(sale, answer)
    return sale
  }

  // The hash is wrong, so nothing may be stored.
  async function requestWrongly(shop: TortureShop) {
    const [invoice_id, total] = [newInvoice(), aTotal()]
    const request = signedRequest(shop.provider.shop, { invoice_id, total, secure_hash: '0'.repeat(64) })
    note(newSale(shop, invoice_id, total), await insist(shop, requestPath, posted(request)))
  }

  async function requestAndCancel(shop: TortureShop) {
    const [invoice_id, total] = [newInvoice(), aTotal()]
    const sale = newSale(shop, invoice_id, total)
    const answer = await insist(
      shop,
      requestPath,
      posted(signedRequest(shop.provider.shop, { invoice_id, total })),
    )
    note(sale, answer)
    const path = `/checkout/${String(answer.body.tx_token)}/cancel`
    for (;;) {
      const answered = await ask(shop, path, { method: 'POST' })
      if (answered?.http === 303) break
      await sleep(retryMs)
    }
    sale.cancelAcknowledged = true
  }

  async function refund(shop: TortureShop, sale: Sale, amount: string) {
    const { merchant_key, secret_key } = shop.provider.shop
    const refund_id = `${sale.invoice_id}-R${sale.refunds.length + 1}`
    const one: SaleRefund = { refund_id, amount, isAcknowledged: false }
    sale.refunds.push(one)
    const signed = { merchant_key, invoice_id: sale.invoice_id, refund_id, amount }
    const body = { ...signed, secure_hash: sign(secret_key, refundString(signed)) }
    const { http, text } = await insist(shop, '/v1/refunds', posted(body))
    if (http === 200 || http === 201) one.isAcknowledged = true
    else one.refused = `${http} ${text.slice(0, 300)}`
  }

  async function refundSome(shop: TortureShop, sale: Sale) {
    if (chance(0.35)) await refund(shop, sale, '4.00')
    if (chance(0.15)) await refund(shop, sale, '5.00')
    if (chance(0.1)) await refund(shop, sale, '999.00') // more than was paid: refused
  }

  async function buy(shop: TortureShop) {
    const waiting: Sale[] = []
    while (!over.signal.aborted) {
      if (chance(0.05)) await requestWrongly(shop)
      else if (chance(0.1)) await requestAndCancel(shop)
      else waiting.push(await requestDirect(shop))
      const [oldest] = waiting
      if (oldest) {
        const { body } = await insist(shop, checkPath(shop.provider.shop, oldest.invoice_id), {})
        if (body.status !== 'awaiting_payment' || waiting.length > mostWaiting) waiting.shift()
        if (body.status === 'paid') {
          oldest.paidAcknowledged = true
          await refundSome(shop, oldest)
        }
      }
      await sleep(restMs)
    }
  }

  async function probe(node: TestedNode, ms: number, of = shops): Promise<boolean> {
    const shop = pick(of)
    const [invoice_id, total] = [newInvoice(), aTotal()]
    const sale = newSale(shop, invoice_id, total)
    const init = posted(signedRequest(shop.provider.shop, { invoice_id, total }))
    const answer = await sendWithin(ms, node.url + requestPath, init)
    if (answer?.http === 200) note(sale, answer)
    return answer?.http === 200
  }

  function resume() {
    over = new AbortController()
    running = shops.flatMap(shop => Array.from({ length: customersOfEach }, () => buy(shop)))
  }

  async function pause() {
    over.abort()
    await Promise.all(running)
  }

  return load
}

function note(sale: Sale, { http, text, body }: Answer) {
  if (http === 200) sale.references.push(String(body.tx_reference))
  else sale.refused = `${http} ${text.slice(0, 300)}`
}

const posted = (body: unknown): RequestInit => ({
  method: 'POST',
  headers: json,
  body: JSON.stringify(body),
})

// Undefined if the connection was lost, or there was no answer in time.
const sendWithin = (ms: number, url: string, init: RequestInit): Promise<Answer | undefined> =>
  send(url, { ...init, signal: AbortSignal.timeout(ms) }).catch(() => undefined)
