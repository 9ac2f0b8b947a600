import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, test } from 'vitest'
import { sql } from '../../src/store/db.ts'
import { compareDeliveries, openRecordingReceiver } from '../support/deliveries/recordingReceiver.ts'
import { openDeliveryDatabase } from '../support/deliveries/deliveryDatabase.ts'
import { spawnGateway } from '../support/gateway/gateway.ts'
import { send } from '../support/merchant/merchant.ts'
import { startPostgresProxy } from '../support/database/postgresProxy.ts'

const soon = { timeout: 60_000, interval: 20 }
const many = 12

const closing: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const close of closing.toReversed()) await close()
})

async function start(env: Record<string, string>) {
  const gateway = await spawnGateway(env)
  closing.push(async () => gateway.child.exitCode ?? gateway.child.signalCode ?? gateway.kill('SIGKILL'))
  return gateway
}

async function open() {
  const database = await openDeliveryDatabase()
  closing.push(database.close)
  const receiver = await openRecordingReceiver()
  closing.push(receiver.close)
  const shops = await database.addShops([receiver.url, receiver.url, receiver.url])
  return { database, receiver, shops, payments: await database.addPayments(shops, many) }
}

describe.concurrent('a gateway is killed between a commit and the first byte of what it has committed', () => {
  for (const [who, isThere] of [
    ['another that is there', true],
    ['the next one that is started', false],
  ] as const)
    test(`it is sent by ${who}, once, long before the time of the lease`, async ({ expect }) => {
      const { database, receiver, shops, payments } = await open()
      const proxy = await startPostgresProxy(database.url)
      closing.push(proxy.stop)
      // The next one has the same address of the database: at another one it would take it for a copy.
      const env = { ...database.env, DATABASE_URL: proxy.url }
      const killed = await start(env)
      const other = isThere ? await start(database.env) : undefined
      await sleep(1500) // both are known to be there by then
      let gone: Promise<void> | undefined
      let isLeased = false
      proxy.onStatement = text => {
        if (text.includes('insert into deliveries')) isLeased = true
        if (!isLeased || text !== 'commit') return undefined
        gone ??= killed.kill('SIGKILL')
        return 'unheard'
      }
      const forms = payments.map(({ tx_token }) =>
        send(`${killed.url}/checkout/${tx_token}/cancel`, { method: 'POST' }).catch(() => {}),
      )
      await Promise.all(forms)
      await gone
      const killedAt = Date.now()
      proxy.onStatement = () => undefined
      const before = receiver.received.length
      // The killed one's commit waits for the disk, which may take longer than a kill.
      const committed = async () => (await database.db.rows(sql`select from deliveries`)).length
      await expect.poll(committed, soon).toBeGreaterThan(0)
      const next = other ?? (await start(env))
      await expect.poll(database.unfinished, soon).toBe(0)
      const lastMs = Math.max(...receiver.received.slice(before).map(({ at }) => at)) - killedAt
      console.info({ who, sent: receiver.received.length, lastMs })
      assert.match(next.output(), /a node died/) // it had leases, otherwise nothing would be logged
      await next.kill('SIGTERM')
      const { faults, repeated } = await compareDeliveries(database, shops, receiver.received)
      assert.deepEqual([faults, receiver.overlaps, repeated], [[], [], 0])
    })
})

test('two gateways that commit and carry at once: each notification goes out once', async ({ expect }) => {
  const { database, receiver, shops, payments } = await open()
  const nodes = await Promise.all([start(database.env), start(database.env)])
  const left = payments.entries()
  const customer = async () => {
    for (const [at, { tx_token }] of left)
      await send(`${nodes[at % 2]?.url}/checkout/${tx_token}/cancel`, { method: 'POST' })
  }
  await Promise.all(Array.from({ length: 6 }, customer))
  await expect.poll(database.unfinished, soon).toBe(0)
  for (const node of nodes) await node.kill('SIGTERM')
  const { faults, repeated, notifications } = await compareDeliveries(database, shops, receiver.received)
  assert.deepEqual([faults, receiver.overlaps, repeated, notifications], [[], [], 0, payments.length])
})
