import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import type { Mode } from '../../src/core/mode.ts'
import { sql } from '../../src/store/db.ts'
import { type FreshDatabase, migratedDatabase } from '../support/database/database.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../support/gateway/gateway.ts'
import { send, signedRequest } from '../support/merchant/merchant.ts'
import { openReceiver, type Received } from '../support/merchant/receiver.ts'

// The signature of a form covers the invoice, the key and the total. A customer who changes `ipn_url` in the form chooses
// which address of the shop is notified, and makes deliveries fail there.
const soon = { timeout: 15_000, interval: 50 }

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

const isBad = ({ path }: Received) => !path.startsWith('/ipn')

async function openShop() {
  const receiver = await openReceiver((request, response) => {
    if (isBad(request)) response.statusCode = 500
    response.end()
  })
  closing.push(receiver.close)
  const database = await migratedDatabase()
  closing.push(database.drop)
  const shared: FreshDatabase = { ...database, drop: async () => {} }
  const TOLLGATE_MASTER_KEY = randomBytes(32).toString('hex')
  const start = () => testGateway({ TOLLGATE_MASTER_KEY, TOLLGATE_EGRESS_LOOPBACK: 'on' }, {}, shared)
  return { receiver, database, start }
}

// A payment of a customer who changed the form, or did not, and cancelled on the page.
async function cancelForm(gateway: TestGateway, shop: TestMerchant, ipn_url?: string, mode: Mode = 'live') {
  const { generate_checkout_url: _, ...request } = signedRequest(shop[mode], ipn_url ? { ipn_url } : {})
  const body = new URLSearchParams(request as Record<string, string>)
  const { http, headers, text } = await send(`${gateway.url}/gateway/checkout`, { method: 'POST', body })
  assert.equal(http, 303, text)
  const checkout = headers.get('location')
  assert.equal((await send(`${checkout}/cancel`, { method: 'POST' })).http, 303)
  return request.invoice_id
}

type World = Awaited<ReturnType<typeof openShop>>
const arrivals = ({ receiver }: World, invoices: readonly string[]) =>
  receiver.received.filter(one => !isBad(one) && invoices.some(id => one.body.includes(`"${id}"`))).length

// Forms with addresses that fail, after which their lanes are closed.
async function attack(
  world: World,
  gateway: TestGateway,
  shop: TestMerchant,
  path: (at: number) => string,
  mode?: Mode,
) {
  for (let at = 0; at < 24; at++) await cancelForm(gateway, shop, world.receiver.url + path(at % 8), mode)
  await expect.poll(() => world.receiver.received.filter(isBad).length, soon).toBeGreaterThanOrEqual(5)
}

async function expectHeard(world: World, gateway: TestGateway, shop: TestMerchant, ipn_url?: string) {
  const invoices: string[] = []
  for (let at = 0; at < 3; at++) invoices.push(await cancelForm(gateway, shop, ipn_url))
  await expect.poll(() => arrivals(world, invoices), soon).toBe(3)
}

async function arrivesSoon(world: World, invoice: string) {
  for (let look = 0; look < 10 && arrivals(world, [invoice]) === 0; look++) await sleep(50)
  return arrivals(world, [invoice]) > 0
}

const bad = () => '/bad'

test('a customer names a path of the shop that fails: the address in the settings is notified at once', async () => {
  const world = await openShop()
  const gateway = await world.start()
  closing.push(gateway.stop)
  const shop = await gateway.addMerchant(`ipn_url=${world.receiver.url}/ipn`)
  await attack(world, gateway, shop, bad)
  await expectHeard(world, gateway, shop)
})

for (const [what, path] of [
  ['one path', bad],
  ['eight paths', (at: number) => `/bad${at}`],
] as const)
  test(`a customer names ${what} of the shop that fails: the address that each request names is notified at once`, async () => {
    const world = await openShop()
    const gateway = await world.start()
    closing.push(gateway.stop)
    const shop = await gateway.addMerchant()
    const ipn_url = `${world.receiver.url}/ipn`
    await expectHeard(world, gateway, shop, ipn_url)
    await attack(world, gateway, shop, path)
    await expectHeard(world, gateway, shop, ipn_url)
  })

test('the path that was acknowledged keeps its lane after a restart, and on another node', async () => {
  const world = await openShop()
  const first = await world.start()
  const shop = await first.addMerchant()
  const ipn_url = `${world.receiver.url}/ipn`
  await expectHeard(world, first, shop, ipn_url)
  await first.stop() // with what it has counted
  const nodes = [await world.start(), await world.start()]
  closing.push(...nodes.map(({ stop }) => stop))
  for (const node of nodes) await attack(world, node, shop, at => `/bad${at}`)
  for (const node of nodes) await expectHeard(world, node, shop, ipn_url)
})

test('another node learns within seconds which path was acknowledged', async () => {
  const world = await openShop()
  const nodes = [await world.start(), await world.start()]
  closing.push(...nodes.map(({ stop }) => stop))
  const [near, far] = nodes as [TestGateway, TestGateway]
  const shop = await near.addMerchant()
  const ipn_url = `${world.receiver.url}/ipn`
  await attack(world, far, shop, at => `/bad${at}`)
  await expectHeard(world, near, shop, ipn_url)
  const counted = () =>
    near.db.rows(sql`select from acknowledged_paths where merchant_id = ${shop.merchant_id}`)
  await expect.poll(async () => (await counted()).length, soon).toBe(1)
  await expect.poll(() => cancelForm(far, shop, ipn_url).then(id => arrivesSoon(world, id)), soon).toBe(true)
})

test('a customer with a test key does not silence live payments', async () => {
  const world = await openShop()
  const gateway = await world.start()
  closing.push(gateway.stop)
  const shop = await gateway.addMerchant()
  await attack(world, gateway, shop, at => `/bad${at}`, 'test')
  await expectHeard(world, gateway, shop, `${world.receiver.url}/ipn`)
})

test('a customer names many servers that hang: the acknowledged path and the settings are notified at once', async () => {
  const world = await openShop()
  const gateway = await world.start()
  closing.push(gateway.stop)
  const [named, set] = [
    await gateway.addMerchant(),
    await gateway.addMerchant(`ipn_url=${world.receiver.url}/ipn`),
  ]
  await expectHeard(world, gateway, named, `${world.receiver.url}/ipn`)
  const hanging = await Promise.all(Array.from({ length: 20 }, () => openReceiver(() => {})))
  closing.push(...hanging.map(({ close }) => close))
  for (const { url } of hanging)
    for (const shop of [named, set]) await cancelForm(gateway, shop, `${url}/ipn`)
  await expect
    .poll(() => hanging.reduce((sum, { received }) => sum + received.length, 0), soon)
    .toBeGreaterThanOrEqual(16)
  await expectHeard(world, gateway, named, `${world.receiver.url}/ipn`)
  await expectHeard(world, gateway, set)
})
