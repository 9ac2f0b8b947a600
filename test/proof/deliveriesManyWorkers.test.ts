import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, test } from 'vitest'
import { sql } from '../../src/store/db.ts'
import { compareDeliveries, openRecordingReceiver } from '../support/deliveries/recordingReceiver.ts'
import { openDeliveryDatabase, type DeliveryDatabase } from '../support/deliveries/deliveryDatabase.ts'
import { openWorkers, type Worker } from '../support/deliveries/workers.ts'
import { random } from '../support/random.ts'

const leaseMs = 30_000
const soon = { timeout: 60_000, interval: 100 }

const workers = openWorkers()
const closing: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closing.toReversed()) await close()
})

// Endpoints that answer when they like, and shops that share them.
async function open(endpoints: number, shopsOfEach: number, delayMs: () => number) {
  const database = await openDeliveryDatabase()
  closing.push(database.close)
  const receivers = await Promise.all(Array.from({ length: endpoints }, () => openRecordingReceiver(delayMs)))
  closing.push(...receivers.map(one => one.close))
  const urls = Array.from({ length: shopsOfEach }, () => receivers.map(({ url }) => url)).flat()
  const shops = await database.addShops(urls)
  const received = () => receivers.flatMap(one => one.received)
  const overlaps = () => receivers.flatMap(one => one.overlaps)
  return { database, shops, received, overlaps }
}

const rowsOf = ({ db }: DeliveryDatabase) =>
  db.rows(sql`select * from deliveries order by tx_reference, sequence`)

describe.concurrent('one database', () => {
  test('two to eight workers on a backlog: nothing is sent twice, and no payment has two under way', async ({
    expect,
  }) => {
    const { database, shops, received, overlaps } = await open(4, 2, () => random() * 60)
    const payments = await database.addPayments(shops, 200)
    await database.change(payments.slice(0, 400), database.payAtLast)
    await database.change(payments.slice(400), database.cancel)
    const early = await workers.startMany(database.env, 2)
    await expect.poll(() => received().length, soon).toBeGreaterThan(300)
    const late = await workers.startMany(database.env, 6)
    await expect.poll(() => received().length, soon).toBeGreaterThan(1200)
    const tried = await Promise.all([...early, ...late].map(worker => worker.tried()))
    await Promise.all(early.map(worker => worker.kill('SIGTERM'))) // finish what they have, and go
    await expect.poll(database.unfinished, soon).toBe(0)
    await Promise.all(late.map(worker => worker.kill('SIGTERM')))
    const { faults, notifications, repeated } = await compareDeliveries(database, shops, received())
    assert.deepEqual(faults, [])
    assert.deepEqual(overlaps(), [])
    assert.deepEqual([notifications, repeated], [400 * 3 + 1200, 0])
    assert.ok(
      tried.every(count => count > 0),
      `some had nothing to do: ${tried.join()}`,
    )
  }, 150_000)

  // Its shops share an endpoint, so that it has much on its way there.
  for (const [how, pause] of [
    ['the process is stopped', stop],
    ['nothing in it runs, as on a paused machine', (sleeper: Worker) => sleeper.pause(leaseMs + 8000)],
  ] as const) {
    test(`a worker stands still until its leases are over: it changes and sends nothing when it wakes (${how})`, async ({
      expect,
    }) => {
      const { database, shops, received, overlaps } = await open(1, 4, () => 400)
      await database.change(await database.addPayments(shops, 40), database.cancel)
      const sleeper = await workers.start(database.env)
      await expect.poll(() => received().length, soon).toBeGreaterThan(40)
      const isAwake = pause(sleeper)
      await sleep(200) // what was on its way to us is here
      const leased = await database.db.rows(sql`select from deliveries where lease_until > now()`)
      assert.ok(leased.length > 8)
      const other = await workers.start(database.env)
      await expect.poll(database.unfinished, soon).toBe(0)
      const [rows, before] = [await rowsOf(database), received().length]
      assert.ok(before >= shops.length * 40)

      await isAwake
      await sleep(2000)
      assert.deepEqual(
        received()
          .slice(before)
          .map(({ id }) => id),
        [],
      )
      assert.deepEqual(await rowsOf(database), rows)

      await Promise.all([sleeper.kill('SIGTERM'), other.kill('SIGTERM')])
      const { faults, repeated } = await compareDeliveries(database, shops, received())
      assert.deepEqual(faults, [])
      assert.deepEqual(overlaps(), [])
      assert.ok(repeated <= leased.length)
    }, 150_000)
  }
})

async function stop({ child, tried }: Worker) {
  child.kill('SIGSTOP')
  await sleep(leaseMs + 8000)
  child.kill('SIGCONT')
  await tried()
}
