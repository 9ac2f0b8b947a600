import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, test } from 'vitest'
import { sql } from '../../src/store/db.ts'
import { compare, openBooks } from '../support/deliveries/recordingReceiver.ts'
import { openTown, type Town } from '../support/deliveries/shops.ts'
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
  const town = await openTown()
  closing.push(town.close)
  const books = await Promise.all(Array.from({ length: endpoints }, () => openBooks(delayMs)))
  closing.push(...books.map(one => one.close))
  const urls = Array.from({ length: shopsOfEach }, () => books.map(({ url }) => url)).flat()
  const shops = await town.addShops(urls)
  const received = () => books.flatMap(one => one.received)
  const overlaps = () => books.flatMap(one => one.overlaps)
  return { town, shops, received, overlaps }
}

const rowsOf = ({ db }: Town) => db.rows(sql`select * from deliveries order by tx_reference, sequence`)

describe.concurrent('one database', () => {
  test('two to eight workers on a backlog: nothing is sent twice, and no payment has two under way', async ({
    expect,
  }) => {
    const { town, shops, received, overlaps } = await open(4, 2, () => random() * 60)
    const payments = await town.addPayments(shops, 200)
    await town.change(payments.slice(0, 400), town.payAtLast)
    await town.change(payments.slice(400), town.cancel)
    const early = await workers.startMany(town.env, 2)
    await expect.poll(() => received().length, soon).toBeGreaterThan(300)
    const late = await workers.startMany(town.env, 6)
    await expect.poll(() => received().length, soon).toBeGreaterThan(1200)
    const tried = await Promise.all([...early, ...late].map(worker => worker.tried()))
    await Promise.all(early.map(worker => worker.kill('SIGTERM'))) // finish what they have, and go
    await expect.poll(town.unfinished, soon).toBe(0)
    await Promise.all(late.map(worker => worker.kill('SIGTERM')))
    const { faults, notifications, repeated } = await compare(town, shops, received())
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
    ['nothing in it runs, as on a paused machine', (sleeper: Worker) => sleeper.standStill(leaseMs + 8000)],
  ] as const) {
    test(`a worker stands still until its leases are over: it changes and sends nothing when it wakes (${how})`, async ({
      expect,
    }) => {
      const { town, shops, received, overlaps } = await open(1, 4, () => 400)
      await town.change(await town.addPayments(shops, 40), town.cancel)
      const sleeper = await workers.start(town.env)
      await expect.poll(() => received().length, soon).toBeGreaterThan(40)
      const isAwake = pause(sleeper)
      await sleep(200) // what was on its way to us is here
      const leased = await town.db.rows(sql`select from deliveries where lease_until > now()`)
      assert.ok(leased.length > 8)
      const other = await workers.start(town.env)
      await expect.poll(town.unfinished, soon).toBe(0)
      const [rows, before] = [await rowsOf(town), received().length]
      assert.ok(before >= shops.length * 40)

      await isAwake
      await sleep(2000)
      assert.deepEqual(
        received()
          .slice(before)
          .map(({ id }) => id),
        [],
      )
      assert.deepEqual(await rowsOf(town), rows)

      await Promise.all([sleeper.kill('SIGTERM'), other.kill('SIGTERM')])
      const { faults, repeated } = await compare(town, shops, received())
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
