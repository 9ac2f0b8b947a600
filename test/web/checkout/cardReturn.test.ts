import { Hono } from 'hono'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { pollDue } from '../../../src/actions/providers/pollDue.ts'
import type { ProviderAccount } from '../../../src/core/provider/provider.ts'
import type { Reply } from '../../../src/core/provider/reply.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { sql } from '../../../src/store/db.ts'
import { attemptsOf } from '../../../src/store/payments/attempts.ts'
import { checkoutRoutes } from '../../../src/web/checkout/checkout.tsx'
import type { Env } from '../../../src/web/http/context.ts'
import { simulatedMethod, terms } from '../../support/payments/simulatedNode.ts'
import { after, withOrderName, minutes, noon, seconds, yes } from '../../support/payments/rows.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'
import { fixedAccounts } from '../../support/payments/fixedAccounts.ts'

// A customer returns from the card page repeatedly, on any node.
let shop: TestShop
let payment: Payment
let pollCount: number
let reply: Reply
const onPage: Reply = { state: 'pending', redirect_url: 'https://bank.example/1' }

beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop.stop())

beforeEach(async () => {
  shop.setNow(noon)
  pollCount = 0
  reply = onPage
  payment = await shop.try(await shop.ask(await shop.addMerchant()), onPage, {
    payment_method: 'card',
    input: {},
  })
})

const providerAccount: ProviderAccount = {
  ...terms,
  mode: 'live',
  methods: [{ ...simulatedMethod, payment_method: 'card', fields: [], next: 'redirect' }],
  start: () => Promise.reject(new Error('it is started already')),
  check: async order => (pollCount++, withOrderName(order, reply)),
}
const runtime = () => ({
  ...shop.runtime,
  providerAccounts: fixedAccounts(new Map([['live_bank', providerAccount]])),
})
const newNode = () =>
  new Hono<Env>().route('/checkout', checkoutRoutes({ runtime: runtime(), trustedProxies: 0 }))

async function visit(node: Hono<Env>, query = '') {
  const bindings = { incoming: { headers: {}, socket: { remoteAddress: '192.0.2.1' } } }
  const headers = { accept: 'text/html' }
  return node.request(`/checkout/${payment.tx_token}${query}`, { headers }, bindings)
}
async function returnFromCard(node: Hono<Env>) {
  expect((await visit(node, '?back=1')).headers.get('location')).toBe(
    `/checkout/${payment.tx_token}?visit=back-1`,
  )
}
const attempt = async () => (await attemptsOf(shop.db, payment.merchant_id, payment.tx_reference)).at(-1)

test('a hundred reloads on two nodes cause one poll, and one more after some seconds', async () => {
  const nodes = [newNode(), newNode()] as const
  await returnFromCard(nodes[0])
  for (let times = 0; times < 50; times++) await Promise.all(nodes.map(returnFromCard))
  expect(pollCount).toBe(1)
  shop.setNow(after(seconds(5)))
  await Promise.all(nodes.map(returnFromCard))
  await Promise.all(nodes.map(returnFromCard))
  expect(pollCount).toBe(2)
})

test('a restart keeps the limit', async () => {
  await returnFromCard(newNode())
  await returnFromCard(newNode())
  expect(pollCount).toBe(1)
})

test('a return within the limit is polled when the limit ends, however old the attempt is', async () => {
  shop.setNow(after(minutes(30)))
  await shop.db.rows(sql`update attempts set polls = 18, next_poll_at = ${after(minutes(33))}`)
  const node = newNode()
  await returnFromCard(node)
  reply = yes // on a second visit to the card page
  shop.setNow(after(minutes(30) + seconds(2)))
  await returnFromCard(node)
  expect(pollCount).toBe(1)
  expect((await attempt())?.next_poll_at).toEqual(after(minutes(30) + seconds(5)))
  shop.setNow(after(minutes(30) + seconds(5)))
  await pollDue(runtime(), error => expect(error).toBeUndefined())
  expect(await (await visit(node)).text()).toContain('<title>Paid ·')
})

test('a customer who has paid sees the result at once', async () => {
  reply = yes
  const node = newNode()
  await returnFromCard(node)
  expect(await (await visit(node)).text()).toContain('<title>Paid ·')
})
