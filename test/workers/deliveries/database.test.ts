import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OutboundRequest } from '../../../src/net/outbound.ts'
import { type Db, openDb } from '../../../src/store/db.ts'
import { query } from '../../support/database/database.ts'
import { seconds } from '../../support/payments/rows.ts'
import {
  attemptOf,
  createRequestGate,
  failWith,
  idOf,
  fakeOutbound,
  referenceOf,
  acknowledge,
} from './answers.ts'
import { dispatchAll, useDeliveryFixture, stepUntilRest } from './fixture.ts'

const poolName = 'dispatcher of the test'

const fixture = useDeliveryFixture(8)
let pool: Db
let ama: string
beforeAll(() => {
  pool = openDb(fixture.url, 3, poolName)
  ama = fixture.ids[0] as string
})
afterAll(() => pool.end())

const cutAll = () =>
  query(fixture.url, 'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [
    poolName,
  ])

function createRecorder() {
  const requests: OutboundRequest[] = []
  const outbound = fakeOutbound(request => {
    requests.push(request)
    return acknowledge()
  })
  return { requests, outbound }
}

test('a result that cannot be saved: after the lease the delivery is sent again, with the same id and bytes and the next try number', async () => {
  const { requests, outbound } = createRecorder()
  const dispatcher = fixture.dispatcher(outbound)
  await fixture.notify({ merchant_id: ama })
  await query(fixture.url, 'alter table deliveries rename column last_ms to away')
  await dispatchAll(dispatcher)
  await query(fixture.url, 'alter table deliveries rename column away to last_ms')
  expect([requests.length, fixture.troubles.length, dispatcher.inFlight()]).toEqual([1, 1, 0])
  fixture.pass(seconds(29))
  await dispatchAll(dispatcher)
  expect(requests).toHaveLength(1)
  fixture.pass(seconds(1))
  await dispatchAll(dispatcher)
  const [first, second] = requests as [OutboundRequest, OutboundRequest]
  expect(requests).toHaveLength(2)
  expect([idOf(second), second.body]).toEqual([idOf(first), first.body])
  expect([attemptOf(first), attemptOf(second)]).toEqual([1, 2])
  expect(await fixture.deliveries()).toMatchObject([
    { tries: 2, last_result: 'acknowledged', next_try_at: null },
  ])
})

test('connections that are cut while tries are in flight: every result is saved, nothing is sent twice', async () => {
  const gate = createRequestGate()
  const dispatcher = fixture.dispatcher(fakeOutbound(gate.hold), { db: pool })
  for (let at = 0; at < 40; at++)
    await fixture.notify({ merchant_id: fixture.ids[at % 8] as string, url: `https://shop${at}.example/` })
  await stepUntilRest(dispatcher, gate)
  expect(gate.waiting).toHaveLength(40)
  await cutAll()
  gate.release()
  await dispatcher.finished()
  expect((await fixture.deliveries()).every(one => one.acknowledged_at !== null && one.tries === 1)).toBe(
    true,
  )
  expect(fixture.troubles).toEqual([])
})

test('connections that are cut repeatedly lose nothing; repetitions have the same id and bytes', async () => {
  const { requests, outbound } = createRecorder()
  const dispatcher = fixture.dispatcher(outbound, { db: pool })
  for (let at = 0; at < 150; at++)
    await fixture.notify({
      merchant_id: fixture.ids[at % 8] as string,
      url: `https://shop${at % 40}.example/`,
    })
  const cutting = { isOver: false }
  const cutter = (async () => {
    while (!cutting.isOver) await cutAll()
  })()
  for (let round = 0; round < 12; round++) {
    dispatcher.requestPoll()
    await dispatcher.step().catch(error => void fixture.troubles.push(error))
    fixture.pass(seconds(3))
  }
  cutting.isOver = true
  await cutter
  await dispatcher.finished()
  expect(dispatcher.inFlight()).toBe(0)
  fixture.pass(seconds(31))
  await dispatchAll(dispatcher)
  const deliveries = await fixture.deliveries()
  expect(deliveries.filter(one => one.acknowledged_at === null)).toEqual([])
  expect(new Set(requests.map(idOf)).size).toBe(150)
  expect(new Set(requests.map(one => `${idOf(one)} ${String(one.body)}`)).size).toBe(150)
  expect(new Set(requests.map(one => `${idOf(one)} ${attemptOf(one)}`)).size).toBe(requests.length)
})

// The database refuses one kind of change of a delivery.
async function refusing(change: string, work: () => Promise<void>) {
  await query(
    fixture.url,
    `create or replace function refuse() returns trigger language plpgsql as
    $$ begin raise exception 'refused by the test'; end $$`,
  )
  await query(
    fixture.url,
    `create trigger refuse before update on deliveries for each row when (${change})
    execute function refuse()`,
  )
  try {
    await work()
  } finally {
    await query(fixture.url, 'drop trigger refuse on deliveries')
  }
}

test('a step that cannot take frees its slots, and the next step takes', async () => {
  const { requests, outbound } = createRecorder()
  const dispatcher = fixture.dispatcher(outbound)
  for (let at = 0; at < 30; at++)
    await fixture.notify({ merchant_id: fixture.ids[at % 8] as string, url: `https://shop${at}.example/` })
  await refusing('new.lease_token is not null', async () => {
    for (let step = 0; step < 10; step++) {
      dispatcher.requestPoll()
      await expect(dispatcher.step()).rejects.toThrow('refused by the test')
      expect(dispatcher.inFlight()).toBe(0)
    }
  })
  await dispatchAll(dispatcher)
  expect(requests.map(attemptOf)).toEqual(Array.from({ length: 30 }, () => 1))
})

test('a step that cannot park still sends what it admitted', async () => {
  const sent: string[] = []
  const dispatcher = fixture.dispatcher(
    fakeOutbound(request => {
      if (request.url.includes('dead')) return failWith('timeout')
      sent.push(referenceOf(request))
      return acknowledge()
    }),
  )
  const tellDead = () => fixture.notify({ merchant_id: ama, url: 'https://dead.example/' })
  for (let at = 0; at < 5; at++) await tellDead()
  await dispatchAll(dispatcher)
  await tellDead()
  const reference = await fixture.notify({ merchant_id: ama, url: 'https://alive.example/' })
  await refusing('new.parked and not old.parked', async () => {
    dispatcher.requestPoll()
    await dispatcher.step()
    await dispatcher.finished()
    expect(sent).toEqual([reference])
    expect(fixture.troubles.splice(0)).toMatchObject([{ message: 'refused by the test' }])
  })
  await dispatchAll(dispatcher)
  expect(sent).toEqual([reference])
  expect((await fixture.deliveries()).filter(({ parked }) => parked)).toHaveLength(1)
})
