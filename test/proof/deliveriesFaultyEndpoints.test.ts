import assert from 'node:assert/strict'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from '../../src/store/db.ts'
import { everyTry } from '../../src/store/notifications/tries.ts'
import { closedPorts, openFaultyEndpoints } from '../support/deliveries/faultyEndpoints.ts'
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
import { asOperator } from '../support/gateway/operatorAuth.ts'
import { send } from '../support/merchant/merchant.ts'

const each = 12 // notifications of a shop in trouble: all of them together are more than one look finds
const healthy = 200
const deadlineMs = 10_000
const slackMs = 5000 // two cores are shared by many
const soon = { timeout: 60_000, interval: 200 }

let database: DeliveryDatabase
let receiver: RecordingReceiver
let good: DeliveryShop[]
let gateway: GatewayProcess
const opened: Awaited<ReturnType<typeof openFaultyEndpoints>>[] = []

const openBad = async (...wanted: Parameters<typeof openFaultyEndpoints>) => {
  const endpoints = await openFaultyEndpoints(...wanted)
  opened.push(endpoints)
  return endpoints
}

let hanging: Awaited<ReturnType<typeof openFaultyEndpoints>>
let endless: Awaited<ReturnType<typeof openFaultyEndpoints>>
beforeAll(async () => {
  ;[database, receiver] = await Promise.all([openDeliveryDatabase(), openRecordingReceiver()])
  hanging = await openBad('hangs', 50)
  endless = await openBad('endless', 4)
  const others = [await openBad('fails', 25), await openBad('trickles', 4), await openBad('tricklesBody', 4)]
  const urls = [hanging, endless, ...others].flatMap(one => one.urls)
  const bad = await database.addShops([...urls, ...(await closedPorts(25))])
  good = await database.addShops([receiver.url])
  await database.change(await database.addPayments(bad, each), database.cancel)
  gateway = await spawnGateway(database.env)
})
afterAll(async () => {
  await gateway.kill('SIGTERM')
  await Promise.all([...opened, receiver].map(one => one.close()))
  await database.close()
})

const metrics = () => readMetrics(gateway.url)
const memory = async () => (await metrics()).sum('process_resident_memory_bytes')
const inFlight = async () => (await metrics()).sum('tollgate_deliveries', { of: 'in_flight' })
const openLanes = async () => (await metrics()).all('tollgate_lane_breaker', { state: 'open' }).length
const resultsOf = (metric: Awaited<ReturnType<typeof metrics>>) =>
  metric.all('tollgate_delivery_tries_total').map(({ labels }) => labels.result)

const timeouts = () =>
  database.db.rows<{ tries: number }>(sql`
    select count(*)::integer as tries from ${everyTry} t where result = 'timeout' group by merchant_id order by 1 desc`)
const slowestMs = async () =>
  (await database.db.one<{ ms: number }>(sql`select max(ms) as ms from ${everyTry} t`))?.ms ?? 0

test('50 endpoints hang and 50 refuse: the healthy one beside them gets all it has to get meanwhile', async () => {
  await expect.poll(() => hanging.tally.taken, soon).toBeGreaterThanOrEqual(50)
  await database.change(await database.addPayments(good, healthy), database.cancel)
  await expect.poll(() => receiver.received.length, soon).toBe(healthy)
  const [most] = await timeouts()
  assert.ok((most?.tries ?? 0) < 2, 'an endpoint that hangs was given up twice meanwhile')
  assert.deepEqual(receiver.overlaps, [])
})

test('the operator sees what is due, what is on its way, and which lanes are in trouble', async () => {
  await expect.poll(async () => resultsOf(await metrics()), soon).toContain('server_error')
  await expect.poll(openLanes, soon).toBeGreaterThanOrEqual(40)
  const metric = await metrics()
  const count = (of: string) => metric.sum('tollgate_deliveries', { of })
  assert.ok(count('in_flight') >= 20 && count('in_flight') <= 128, `${count('in_flight')} in flight`)
  assert.ok(count('due') > 0 && count('parked') > 0)
  assert.ok(count('due') + count('parked') <= 112 * each)
  const oldest = metric.sum('tollgate_delivery_oldest_due_seconds')
  assert.ok(oldest > 1 && oldest < 200, `the oldest is due for ${oldest} s`)
  assert.ok(metric.sum('tollgate_delivery_tries_total', { mode: 'test', result: 'acknowledged' }) >= healthy)
  assert.ok(metric.sum('tollgate_delivery_tries_total', { result: 'no_connection' }) >= 25)
  assert.ok(metric.sum('tollgate_delivery_first_byte_seconds_count') >= healthy)
  const within = (le: string) => metric.sum('tollgate_delivery_first_byte_seconds_bucket', { le })
  assert.ok(within('60') >= within('5') && within('5') >= within('0.005'))
  const [lane] = metric.all('tollgate_lane_breaker', { state: 'open' })
  assert.match(lane?.labels.lane ?? '', /^test\/configured\/http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{24}$/)
})

test('nothing holds a slot past its deadline, and no answer fills the memory', async () => {
  const before = await memory()
  await expect.poll(async () => (await timeouts()).length, soon).toBeGreaterThanOrEqual(54) // 50 hang, 4 trickle
  assert.ok((await slowestMs()) < deadlineMs + slackMs)
  assert.ok(endless.tally.taken >= 4 * each) // acknowledged as soon as the headers said so
  const grown = ((await memory()) - before) / 1e6
  assert.ok(grown < 100, `the memory grew by ${grown} MB`)
  assert.ok(endless.tally.bytesOut < endless.tally.taken * 10e6)
  for (const one of opened) one.heal()
  await expect.poll(inFlight, soon).toBeLessThan(5)
  const { faults } = await compareDeliveries(database, good, receiver.received)
  assert.deepEqual(
    faults.filter(words => receiver.received.some(({ id }) => words.startsWith(id))),
    [],
  )
})

type Sample = { name: string; labels: Record<string, string>; value: number }

// What /metrics says, read as Prometheus reads it.
async function readMetrics(url: string) {
  const { http, text } = await send(`${url}/metrics`, { headers: asOperator })
  if (http !== 200) throw new Error(`${http} ${text}`)
  const samples = text.split('\n').flatMap(readSample)
  const all = (name: string, labels: Record<string, string> = {}) =>
    samples.filter(
      sample =>
        sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    )
  const sum = (name: string, labels?: Record<string, string>) =>
    all(name, labels).reduce((total, { value }) => total + value, 0)
  return { all, sum }
}

function readSample(line: string): Sample[] {
  const [, name, inside = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
  if (!name) return []
  const labels = [...inside.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, word]) => [key, word])
  return [{ name, labels: Object.fromEntries(labels), value: Number(value) }]
}
