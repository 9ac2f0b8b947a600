import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, test } from 'vitest'
import { sql } from '../../src/store/db.ts'
import { type KilledGateway, startKilledGateway } from '../support/processes/killedGateway.ts'
import {
  faultsIn,
  openSimulatedProviders,
  type SimulatedProvider,
  type SimulatedProviders,
} from '../support/providers/simulatedProviders.ts'
import { keepPaying, ageUnsentAttempts, newCustomer } from '../support/providers/customers.ts'
import { pick } from '../support/random.ts'

const killsOfEach = 12
const customersOfEach = 5

let world: SimulatedProviders
const gateways: (KilledGateway & { done: Promise<void> })[] = []
beforeAll(async () => {
  world = await openSimulatedProviders()
})
afterAll(async () => {
  await Promise.all(gateways.map(gateway => gateway.stop()))
  await world.close()
})

const url = () => pick(gateways)?.url()

// One payment after the other, by the phone, some with a code, and some declined at first.
async function customer(provider: SimulatedProvider, isOver: () => boolean): Promise<number> {
  let paid = 0
  for (; !isOver(); paid++) {
    const one = await newCustomer(provider, url)
    await keepPaying(world.db, one, url, ({ stage }) => stage === 'paid', { declines: 0.2 })
  }
  return paid
}

// Providers call back at whichever is there. Whoever waited for an answer may be dead: leases and waits are over soon.
async function timePasses() {
  world.callbackProxy.target = url() ?? world.callbackProxy.target
  await world.db.rows(sql`
    update attempts set lease_until = null, next_poll_at = now()
    where ended_at is null and next_poll_at > now() and updated_at < now() - interval '8 seconds'`)
  await ageUnsentAttempts(world)
}

const faults = async (isAtRest: boolean) =>
  (await Promise.all(world.providers.map(provider => faultsIn(world.db, provider, isAtRest)))).flat()

// Those that were there at any moment.
async function faultsUntil(isOver: () => boolean): Promise<string[]> {
  const seen = new Set<string>()
  for (; !isOver(); await sleep(2000)) for (const fault of await faults(false)) seen.add(fault)
  return [...seen]
}

test(`two gateways killed ${2 * killsOfEach} times while customers pay by two providers: as many charges as paid attempts, and every payment ends`, async () => {
  gateways.push(...(await Promise.all([1, 2].map(() => startKilledGateway(world.env, killsOfEach)))))
  let isOver = false
  const paying = Promise.all(
    world.providers.map(provider =>
      Promise.all(Array.from({ length: customersOfEach }, () => customer(provider, () => isOver))),
    ),
  )
  const killing = Promise.all(gateways.map(({ done }) => done)).then(() => (isOver = true))
  const watching = faultsUntil(() => isOver)
  const passing = setInterval(() => void timePasses(), 1000)
  const paid = await paying.finally(() => clearInterval(passing))
  await killing
  assert.deepEqual(await watching, [])
  assert.deepEqual(await faults(true), [])

  const [counted] = await world.db.rows<{ paid: bigint; typed: bigint }>(sql`
    select count(*) filter (where state = 'paid') as paid, count(*) filter (where submits > 0) as typed from attempts`)
  const charges = world.providers.flatMap(provider => provider.entries()).filter(({ charges: n }) => n === 1)
  assert.equal(Number(counted?.paid), charges.length)
  assert.ok(paid.every(of => of.reduce((sum, one) => sum + one, 0) >= customersOfEach))
  assert.ok(Number(counted?.typed) >= customersOfEach)
}, 900_000)
