import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, test } from 'vitest'
import { rotateIpnSecret } from '../../src/actions/merchants/credentials.ts'
import { sql } from '../../src/store/db.ts'
import { everyTry } from '../../src/store/notifications/tries.ts'
import {
  compareDeliveries,
  isSigned,
  openRecordingReceiver,
} from '../support/deliveries/recordingReceiver.ts'
import {
  openDeliveryDatabase,
  type DeliveryDatabase,
  type DeliveryShop,
} from '../support/deliveries/deliveryDatabase.ts'
import { spawnGateway } from '../support/gateway/gateway.ts'
import { random } from '../support/random.ts'

const soon = { timeout: 60_000, interval: 100 }
const everywhereMs = 1500 // within a second, and some for the way
const overlapMs = 8000

const closing: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const close of closing.toReversed()) await close()
})

async function open(delayMs: () => number) {
  const database = await openDeliveryDatabase()
  closing.push(database.close)
  const receiver = await openRecordingReceiver(delayMs)
  closing.push(receiver.close)
  return { database, receiver, shops: await database.addShops([receiver.url, receiver.url]) }
}

async function start({ env }: DeliveryDatabase) {
  const gateway = await spawnGateway(env)
  closing.push(async () => gateway.child.exitCode ?? gateway.kill('SIGKILL'))
  return gateway
}

// Notifications all the time.
function flow(database: DeliveryDatabase, shops: DeliveryShop[], restMs: number) {
  const over = new AbortController()
  const flowing = (async () => {
    while (!over.signal.aborted) {
      await database.change(await database.addPayments(shops, 3), database.cancel)
      await sleep(restMs)
    }
  })()
  return () => {
    over.abort()
    return flowing
  }
}

const leases = async ({ db }: DeliveryDatabase) =>
  (await db.rows(sql`select from deliveries where lease_token is not null`)).length
const tries = async ({ db }: DeliveryDatabase) => (await db.rows(sql`select from ${everyTry} t`)).length

describe.concurrent('while notifications flow', () => {
  test('a gateway that is told to stop finishes what is on its way, and the next one goes on', async ({
    expect,
  }) => {
    let isPatient = true
    const { database, receiver, shops } = await open(() => (isPatient ? 200 + random() * 600 : 0))
    const end = flow(database, shops, 300)
    for (let round = 0; round < 4; round++) {
      const before = receiver.received.length
      const gateway = await start(database)
      await expect.poll(() => receiver.received.length, soon).toBeGreaterThan(before + 20)
      await expect.poll(receiver.underWay, soon).toBeGreaterThan(5)
      await gateway.kill('SIGTERM')
      assert.equal(gateway.child.exitCode, 0, gateway.output())
      assert.equal(receiver.underWay(), 0)
      assert.equal(await leases(database), 0)
      assert.equal(await tries(database), receiver.received.length)
    }
    isPatient = false
    await end()
    const last = await start(database)
    await expect.poll(database.unfinished, soon).toBe(0)
    await last.kill('SIGTERM')
    const { faults, repeated } = await compareDeliveries(database, shops, receiver.received)
    assert.deepEqual([faults, receiver.overlaps, repeated], [[], [], 0])
  })

  test('the signing secret is rotated: both sign in the overlap, and after it the new one alone', async ({
    expect,
  }) => {
    const { database, receiver, shops } = await open(() => 0)
    const [shop, bystander] = shops as [DeliveryShop, DeliveryShop]
    const gateway = await start(database)
    const end = flow(database, shops, 50)
    const fromShop = () => receiver.received.filter(one => !isSigned(one, bystander.test.ipn_secret))
    const receivesOneAfter = (time: number) =>
      expect.poll(() => fromShop().some(({ at }) => at >= time), soon).toBe(true)
    await receivesOneAfter(0)
    const rotatedAt = Date.now()
    const rotated = await rotateIpnSecret(
      database.db,
      database.masterKeys,
      shop.merchant_id,
      'test',
      overlapMs,
      new Date(),
    )
    assert.ok(rotated)
    const overlapEndsAt = new Date(rotated.old_secret_valid_until).getTime()
    await receivesOneAfter(rotatedAt + everywhereMs)
    await sleep(overlapEndsAt - Date.now())
    await receivesOneAfter(overlapEndsAt + everywhereMs)
    await end()
    await expect.poll(database.unfinished, soon).toBe(0)
    await gateway.kill('SIGTERM')

    const secrets = [shop.test.ipn_secret, rotated.ipn_secret]
    const mine = fromShop()
    assert.ok(mine.length > 50 && mine.length < receiver.received.length)
    const signedWith = (from: number, to: number) => [
      ...new Set(
        mine
          .filter(({ at }) => at >= from && at < to)
          .map(one => secrets.map(secret => isSigned(one, secret)).join()),
      ),
    ]
    assert.deepEqual(signedWith(0, rotatedAt), ['true,false'])
    assert.deepEqual(signedWith(rotatedAt + everywhereMs, overlapEndsAt), ['true,true'])
    assert.deepEqual(signedWith(overlapEndsAt + everywhereMs, Infinity), ['false,true'])
    assert.ok(!signedWith(0, Infinity).includes('false,false'))
  })
})
