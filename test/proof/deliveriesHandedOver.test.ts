import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, test } from 'vitest'
import { sql } from '../../src/store/db.ts'
import { compare, openBooks } from '../support/deliveries/recordingReceiver.ts'
import { openTown } from '../support/deliveries/shops.ts'
import { spawnGateway } from '../support/gateway/gateway.ts'
import { send } from '../support/merchant/merchant.ts'
import { startProxy } from '../support/database/postgresProxy.ts'

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
  const town = await openTown()
  closing.push(town.close)
  const books = await openBooks()
  closing.push(books.close)
  const shops = await town.addShops([books.url, books.url, books.url])
  return { town, books, shops, payments: await town.addPayments(shops, many) }
}

describe.concurrent('a gateway is killed between a commit and the first byte of what it has committed', () => {
  for (const [who, isThere] of [
    ['another that is there', true],
    ['the next one that is started', false],
  ] as const)
    test(`it is sent by ${who}, once, long before the time of the lease`, async ({ expect }) => {
      const { town, books, shops, payments } = await open()
      const proxy = await startProxy(town.url)
      closing.push(proxy.stop)
      const killed = await start({ ...town.env, DATABASE_URL: proxy.url })
      const other = isThere ? await start(town.env) : undefined
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
      const before = books.received.length
      // The killed one's commit waits for the disk, which may take longer than a kill.
      const committed = async () => (await town.db.rows(sql`select from deliveries`)).length
      await expect.poll(committed, soon).toBeGreaterThan(0)
      const next = other ?? (await start(town.env))
      await expect.poll(town.unfinished, soon).toBe(0)
      const lastMs = Math.max(...books.received.slice(before).map(({ at }) => at)) - killedAt
      console.info({ who, sent: books.received.length, lastMs })
      assert.match(next.output(), /a node is gone/) // with leases, or nobody would say so
      await next.kill('SIGTERM')
      const { faults, repeated } = await compare(town, shops, books.received)
      assert.deepEqual([faults, books.overlaps, repeated], [[], [], 0])
    })
})

test('two gateways that commit and carry at once: each notification goes out once', async ({ expect }) => {
  const { town, books, shops, payments } = await open()
  const nodes = await Promise.all([start(town.env), start(town.env)])
  const left = payments.entries()
  const customer = async () => {
    for (const [at, { tx_token }] of left)
      await send(`${nodes[at % 2]?.url}/checkout/${tx_token}/cancel`, { method: 'POST' })
  }
  await Promise.all(Array.from({ length: 6 }, customer))
  await expect.poll(town.unfinished, soon).toBe(0)
  for (const node of nodes) await node.kill('SIGTERM')
  const { faults, repeated, notifications } = await compare(town, shops, books.received)
  assert.deepEqual([faults, books.overlaps, repeated, notifications], [[], [], 0, payments.length])
})
