import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Payment } from '../../src/core/payment/payment.ts'
import { sql } from '../../src/store/db.ts'
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
import { openWorkers } from '../support/deliveries/workers.ts'
import { startKilledGateway } from '../support/processes/killedGateway.ts'
import { random } from '../support/random.ts'

const workersAtOnce = 3
const killsOfWorkers = 120
const killsOfGateways = 8
const endpoints = 4
const shopsOfEach = 2
const killedWithinMs = 300 // of its first try, or of the first one's end
const answeredWithinMs = 800 // while workers die, so that they die in the middle of something
const early = 60 // payments of each shop that end before the first worker comes
const waiting = 200 // notifications that wait for a worker, if we are fast enough

const workers = openWorkers()
let database: DeliveryDatabase
let receivers: RecordingReceiver[]
let shops: DeliveryShop[]
const over = new AbortController()
beforeAll(async () => {
  database = await openDeliveryDatabase()
  receivers = await Promise.all(
    Array.from({ length: endpoints }, () =>
      openRecordingReceiver(() => (over.signal.aborted ? 0 : random() * answeredWithinMs)),
    ),
  )
  shops = await database.addShops(
    Array.from({ length: shopsOfEach }, () => receivers.map(({ url }) => url)).flat(),
  )
})
afterAll(async () => {
  await Promise.all(receivers.map(one => one.close()))
  await database.close()
})

// Killed at a random moment of its work, then there is a new one.
async function keepKilling(kills: { count: number }) {
  while (kills.count < killsOfWorkers) {
    const worker = await workers.start(database.env)
    await (kills.count % 3 === 0 ? worker.taken() : worker.firstTried())
    await sleep(random() * killedWithinMs)
    kills.count++
    await worker.kill('SIGKILL')
  }
}

async function keepCutting() {
  let cuts = 0
  for (; !over.signal.aborted; cuts++) {
    await sleep(500 + random() * 2000)
    await database.cutConnections()
  }
  return cuts
}

// Payments end as they do, so that there is always something to tell.
async function keepChanging() {
  while (!over.signal.aborted) {
    if ((await database.waiting()) > waiting) await sleep(20)
    else await database.change(await database.addPayments(shops, 6), changeSomehow)
  }
}

const changeSomehow = (payment: Payment) =>
  random() < 0.3 ? database.payAtLast(payment) : database.cancel(payment)

test(`workers killed ${killsOfWorkers} times and gateways ${killsOfGateways} times: every change is told, with the same bytes however often`, async () => {
  const kills = { count: 0 }
  await database.change(await database.addPayments(shops, early), changeSomehow)
  const [cutting, changing] = [keepCutting(), keepChanging()]
  const gateway = await startKilledGateway(database.env, killsOfGateways)
  await Promise.all([...Array.from({ length: workersAtOnce }, () => keepKilling(kills)), gateway.done])
  over.abort()
  await changing
  const cuts = await cutting
  await gateway.stop()

  // Whoever held a lease is dead by now: nobody has to sit through the rest of it here.
  const orphans = await database.db.rows(
    sql`update deliveries set lease_until = now() where lease_until > now() returning 1`,
  )
  assert.ok(orphans.length > 0)
  const last = await workers.start(database.env)
  await expect.poll(database.unfinished, { timeout: 180_000 }).toBe(0)
  await last.kill('SIGTERM')

  const received = receivers.flatMap(one => one.received).toSorted((a, b) => a.at - b.at)
  const { faults, notifications, repeated } = await compareDeliveries(database, shops, received)
  assert.deepEqual(faults, [])
  assert.deepEqual(
    receivers.flatMap(({ overlaps }) => overlaps),
    [],
  )
  assert.ok(repeated > kills.count / 4, `only ${repeated} of ${notifications} came again`) // else the blows came too early
  console.info({
    kills: kills.count,
    gateways: gateway.kills,
    cuts,
    notifications,
    repeated,
    orphans: orphans.length,
  })
}, 900_000)
