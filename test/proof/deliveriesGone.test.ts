import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, test } from 'vitest'
import { sql } from '../../src/store/db.ts'
import { compare, openBooks } from '../support/deliveries/recordingReceiver.ts'
import { openTown } from '../support/deliveries/shops.ts'
import { spawnGateway } from '../support/gateway/gateway.ts'

const soon = { timeout: 60_000, interval: 20 }

const closing: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const close of closing.toReversed()) await close()
})

async function start(env: Record<string, string>) {
  const gateway = await spawnGateway(env)
  closing.push(async () => gateway.child.exitCode ?? gateway.kill('SIGKILL'))
  return gateway
}

describe.concurrent('a node that is killed in the middle', () => {
  for (const [who, isThere] of [
    ['another that is there', true],
    ['the next one that is started', false],
  ] as const)
    test(`what it had in its hands is sent by ${who}, long before the time of its leases`, async ({
      expect,
    }) => {
      const town = await openTown()
      closing.push(town.close)
      let isPatient = true // so that it dies in the middle of something
      const books = await openBooks(() => (isPatient ? 3000 : 0))
      closing.push(books.close)
      const shops = await town.addShops([books.url, books.url, books.url])
      const killed = await start(town.env)
      await sleep(1500) // it is known to be there by then
      await town.change(await town.addPayments(shops, 8), town.cancel)
      await expect.poll(books.underWay, soon).toBeGreaterThan(2)
      const other = isThere ? await start(town.env) : undefined
      await expect.poll(books.underWay, soon).toBeGreaterThan(2)
      const mine = await town.db.rows(
        sql`select from deliveries where lease_until > now() and lease_token like 'n%-%'`,
      )
      assert.ok(mine.length > 2, `${mine.length} leases that end with their node`)
      await killed.kill('SIGKILL')
      isPatient = false
      const [killedAt, before] = [Date.now(), books.received.length]
      const next = other ?? (await start(town.env))
      await expect.poll(town.unfinished, soon).toBe(0)
      const again = books.received.slice(before).filter(({ attempt }) => attempt > 1)
      assert.ok(again.length > 0)
      const firstMs = Math.min(...again.map(({ at }) => at)) - killedAt
      console.info({ who, inHand: mine.length, sentAgain: again.length, firstMs })
      assert.match(next.output(), /a node is gone/) // and nobody has waited for the time of its leases
      await next.kill('SIGTERM')
      const { faults } = await compare(town, shops, books.received)
      assert.deepEqual([faults, books.overlaps], [[], []])
    })
})
