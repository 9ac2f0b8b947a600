import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, test } from 'vitest'
import { sql } from '../../src/store/db.ts'
import { compareDeliveries, openRecordingReceiver } from '../support/deliveries/recordingReceiver.ts'
import { openDeliveryDatabase } from '../support/deliveries/deliveryDatabase.ts'
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
      const database = await openDeliveryDatabase()
      closing.push(database.close)
      let isPatient = true // so that it dies in the middle of something
      const receiver = await openRecordingReceiver(() => (isPatient ? 3000 : 0))
      closing.push(receiver.close)
      const shops = await database.addShops([receiver.url, receiver.url, receiver.url])
      const killed = await start(database.env)
      await sleep(1500) // it is known to be there by then
      await database.change(await database.addPayments(shops, 8), database.cancel)
      await expect.poll(receiver.underWay, soon).toBeGreaterThan(2)
      const other = isThere ? await start(database.env) : undefined
      await expect.poll(receiver.underWay, soon).toBeGreaterThan(2)
      const mine = await database.db.rows(
        sql`select from deliveries where lease_until > now() and lease_token like 'n%-%'`,
      )
      assert.ok(mine.length > 2, `${mine.length} leases that end with their node`)
      await killed.kill('SIGKILL')
      isPatient = false
      const [killedAt, before] = [Date.now(), receiver.received.length]
      const next = other ?? (await start(database.env))
      await expect.poll(database.unfinished, soon).toBe(0)
      const again = receiver.received.slice(before).filter(({ attempt }) => attempt > 1)
      assert.ok(again.length > 0)
      const firstMs = Math.min(...again.map(({ at }) => at)) - killedAt
      console.info({ who, inHand: mine.length, sentAgain: again.length, firstMs })
      assert.match(next.output(), /a node died/) // so its leases were ended before their time
      await next.kill('SIGTERM')
      const { faults } = await compareDeliveries(database, shops, receiver.received)
      assert.deepEqual([faults, receiver.overlaps], [[], []])
    })
})
