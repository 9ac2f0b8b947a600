import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from '../../src/store/db.ts'
import { createRandom, randomSeed } from '../support/random.ts'
import {
  type RecordingReceiver,
  compareDeliveries,
  openRecordingReceiver,
} from '../support/deliveries/recordingReceiver.ts'
import {
  openDeliveryDatabase,
  type DeliveryDatabase,
  type DeliveryShop,
} from '../support/deliveries/deliveryDatabase.ts'
import { type GatewayProcess, spawnGateway } from '../support/gateway/gateway.ts'
import { post, send, signedRequest } from '../support/merchant/merchant.ts'

const pauses = 8
const perBurst = 5
const soon = { timeout: 90_000, interval: 200 }

let database: DeliveryDatabase
let receiver: RecordingReceiver
let shops: DeliveryShop[]
let steady: GatewayProcess
let paused: GatewayProcess

beforeAll(async () => {
  ;[database, receiver] = await Promise.all([openDeliveryDatabase(), openRecordingReceiver()])
  shops = await database.addShops([receiver.url, receiver.url, receiver.url])
  ;[steady, paused] = await Promise.all([spawnGateway(database.env), spawnGateway(database.env)])
})
afterAll(async () => {
  paused.child.kill('SIGCONT')
  await Promise.all([steady.kill('SIGTERM'), paused.kill('SIGTERM')])
  await receiver.close()
  await database.close()
})

type Asked = { invoice_id: string; tx_reference: string }

// A payment is asked for and cancelled: a row, a change of status, a notification.
async function askAndCancel(url: string, shop: DeliveryShop): Promise<Asked | undefined> {
  const request = signedRequest(shop.test)
  const { http, body } = await post(url, request)
  if (http !== 200) return undefined
  const checkout = String(body.checkout_url).replace(/^https?:\/\/[^/]*/, url)
  const told = await send(`${checkout}/cancel`, { method: 'POST' })
  assert.equal(told.http, 303, told.text)
  return { invoice_id: request.invoice_id, tx_reference: body.tx_reference }
}

test('two nodes, one of them stopped and continued at random: nothing is lost or doubled, and no other node waits', async () => {
  const seed = randomSeed()
  const { random } = createRandom(seed)
  const asked: Asked[] = []
  const over = new AbortController()
  const askOn = async (node: GatewayProcess) => {
    while (!over.signal.aborted) {
      const all = Array.from({ length: perBurst }, (_, at) =>
        askAndCancel(node.url, shops[at % shops.length] as DeliveryShop),
      )
      for (const one of await Promise.all(all)) if (one) asked.push(one)
      await sleep(50)
    }
  }
  const asking = [askOn(steady), askOn(paused)]
  for (let pause = 0; pause < pauses; pause++) {
    await sleep(100 + random() * 400)
    paused.child.kill('SIGSTOP')
    const before = asked.length
    await sleep(300 + random() * 1500)
    await expect
      .poll(() => asked.length, { timeout: 20_000, message: `seed ${seed}` })
      .toBeGreaterThan(before)
    paused.child.kill('SIGCONT')
  }
  over.abort()
  await Promise.all(asking)
  await expect.poll(database.unfinished, { ...soon, message: `seed ${seed}` }).toBe(0)

  const stored = await database.db.rows<Asked & { status: string }>(
    sql`select invoice_id, tx_reference, status from payments`,
  )
  const byInvoice = new Map(stored.map(one => [one.invoice_id, one]))
  assert.equal(byInvoice.size, stored.length)
  for (const { invoice_id, tx_reference } of asked)
    assert.deepEqual(byInvoice.get(invoice_id), { invoice_id, tx_reference, status: 'cancelled' })
  const { faults } = await compareDeliveries(database, shops, receiver.received)
  assert.deepEqual([faults, receiver.overlaps], [[], []], `seed ${seed}`)
}, 180_000)
