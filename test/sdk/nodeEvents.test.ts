import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { FeedEvent } from '../../sdk/node/src/index.ts'
import { migratedDatabase } from '../support/database/database.ts'
import { storeNotification } from '../support/deliveries/notifications.ts'
import { openCuttingProxy } from '../support/gateway/cuttingProxy.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { anOrder, payOnPage, sdkClient } from '../support/merchant/sdkClient.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await testGateway({}, { sandboxPace: 0.05 })
})
afterAll(() => gateway.stop())

const collect = async (events: AsyncIterable<FeedEvent>) => {
  const all: FeedEvent[] = []
  for await (const event of events) all.push(event)
  return all
}

async function shopWithEvents(count: number) {
  const merchant = await gateway.addMerchant()
  const { merchant_id } = merchant
  for (let at = 0; at < count; at++) await storeNotification(gateway.db, { merchant_id })
  return merchant
}

test('every event comes once, over many pages, and any cursor continues behind its event', async () => {
  const client = sdkClient(gateway, await shopWithEvents(7))
  const all = await collect(client.events({ limit: 3 }))
  expect(all.map(({ cursor }) => cursor)).toEqual(['1', '2', '3', '4', '5', '6', '7'])
  expect(all[0]).toMatchObject({
    type: 'status',
    status: 'paid',
    currency: 'GHS',
    createdAt: expect.any(Date),
  })
  for (const { cursor } of all) {
    const rest = await collect(client.events({ after: cursor, limit: 2 }))
    expect(rest.map(event => event.cursor)).toEqual(all.slice(Number(cursor)).map(event => event.cursor))
  }
})

test('a real payment is in the feed', async () => {
  const client = sdkClient(gateway, await gateway.addMerchant())
  const order = anOrder()
  const { checkoutUrl, reference } = await client.initiate(order)
  await payOnPage(checkoutUrl, '0240000000')
  await expect.poll(async () => (await client.status(order)).status).toBe('paid')
  expect(await collect(client.events())).toMatchObject([
    { invoiceId: order.invoiceId, reference, status: 'paid', amountMinor: 2500, id: `${reference}-N1` },
  ])
})

test('a wrong secret or cursor is refused', async () => {
  const merchant = await shopWithEvents(1)
  await expect(collect(sdkClient(gateway, merchant).events({ after: '99' }))).rejects.toMatchObject({
    code: 'GW-012',
  })
  const wrong = sdkClient(gateway, merchant, { merchantSecret: 'wrong' })
  await expect(collect(wrong.events({ follow: true }))).rejects.toMatchObject({ code: 'GW-010' })
})

test('a follower gets every event once over a restart of the gateway', async () => {
  const database = await migratedDatabase()
  onTestFinished(database.drop)
  const env = { TOLLGATE_MASTER_KEY: '11'.repeat(32) }
  const kept = { url: database.url, drop: async () => {} }
  const first = await testGateway(env, {}, kept)
  const merchant = await first.addMerchant()
  const { merchant_id } = merchant
  const proxy = await openCuttingProxy(first.url)
  const client = sdkClient(proxy, merchant, { tries: 2 })
  const stop = new AbortController()
  const cursors: string[] = []
  const following = (async () => {
    const events = client.events({ follow: true, pollMs: 20, limit: 2, signal: stop.signal })
    for await (const { cursor } of events) cursors.push(cursor)
  })()
  const add = (db: TestGateway['db']) => storeNotification(db, { merchant_id })
  for (let at = 0; at < 3; at++) await add(first.db)
  await expect.poll(() => cursors.length).toBe(3)
  await first.stop()
  const second = await testGateway(env, {}, kept)
  onTestFinished(() => second.stop())
  for (let at = 0; at < 3; at++) await add(second.db)
  proxy.target = second.url
  await expect.poll(() => cursors).toEqual(['1', '2', '3', '4', '5', '6'])
  stop.abort()
  await following
})
