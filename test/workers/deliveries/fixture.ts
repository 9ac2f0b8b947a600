import { randomBytes } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { onboard } from '../../../src/actions/merchants/onboard.ts'
import type { IpnStyle } from '../../../src/core/merchant/settings.ts'
import type { Delivery, Try } from '../../../src/core/notification/delivery.ts'
import { laneOf } from '../../../src/core/notification/lane.ts'
import type { Outbound } from '../../../src/net/outbound.ts'
import { newReference } from '../../../src/runtime/ids.ts'
import { givenMasterKeys } from '../../../src/start/masterKeys.ts'
import { type Db, openDb, sql } from '../../../src/store/db.ts'
import { addNotification } from '../../../src/store/notifications/notifications.ts'
import { everyTry } from '../../../src/store/notifications/tries.ts'
import { Dispatcher, type DispatcherOptions } from '../../../src/workers/deliveries/dispatcher.ts'
import { createSignerCache } from '../../../src/workers/deliveries/signerCache.ts'
import { migratedDatabase, query } from '../../support/database/database.ts'
import type { TestMerchant } from '../../support/gateway/gateway.ts'
import { noon } from '../../support/payments/rows.ts'
import { createRandom } from '../../support/random.ts'

export type DeliveryFixture = Awaited<ReturnType<typeof openDeliveryFixture>>
export type NotificationInput = {
  merchant_id: string
  tx_reference?: string
  url?: string
  style?: IpnStyle
  status?: 'paid'
}
type DispatcherSettings = {
  db?: Db
  seed?: number
  trouble?(error: unknown): void
  pause?: DispatcherOptions['pause']
  leases?: DispatcherOptions['leases']
}

const noWaitForDisk = `do $$ begin
  execute format('alter database %I set synchronous_commit = off', current_database());
end $$`

// Notifications on a separate database, sent by real dispatchers. The test sets the clock and the answers of the
// merchants answer.
export async function openDeliveryFixture(merchantCount = 1) {
  const database = await migratedDatabase()
  await query(database.url, noWaitForDisk)
  const db = openDb(database.url, 6)
  const masterKeys = givenMasterKeys([randomBytes(32)])
  const merchants: TestMerchant[] = []
  for (let at = 0; at < merchantCount; at++)
    merchants.push((await onboard(db, masterKeys, `Shop ${at}`, ['test', 'live'], noon)) as TestMerchant)
  let now = noon.getTime()
  const clock = () => new Date(now)
  const troubles: unknown[] = []
  const withheld: string[] = []

  function dispatcher(
    outbound: Outbound,
    { db: own = db, seed = 1, trouble, pause, leases }: DispatcherSettings = {},
  ): Dispatcher {
    const watch = {
      tried() {},
      exhausted() {},
      passwordWithheld: (id: string) => void withheld.push(id),
      trouble: trouble ?? ((error: unknown) => void troubles.push(error)),
    }
    const signers = createSignerCache(own, masterKeys, clock)
    const { random } = createRandom(seed)
    return new Dispatcher({
      db: own,
      signers,
      outbound,
      loopback: () => true,
      clock,
      random,
      pause,
      leases,
      watch,
      wake() {},
    })
  }

  // As a status change of a payment does.
  async function notify({
    merchant_id,
    tx_reference = newReference(clock()),
    url,
    style = 'post',
    status = 'paid',
  }: NotificationInput) {
    const to = {
      url: url ?? 'https://shop.example/ipn',
      style,
      lane: laneOf(url ?? 'https://shop.example/ipn', 'test', { ipn_url: null }),
    }
    const notification = { merchant_id, tx_reference, mode: 'test', status, created_at: clock() } as const
    const body = JSON.stringify({ invoice_id: tx_reference, tx_reference, status })
    await db.transaction(tx => addNotification(tx, { ...notification, body }, to))
    return tx_reference
  }

  // Many due deliveries in one statement, the oldest first.
  async function addBacklog(merchant_id: string, count: number, url: string, retry = false) {
    await db.transaction(async tx => {
      await tx.rows(sql`
        insert into notifications (merchant_id, tx_reference, sequence, mode, status, body, created_at)
        select ${merchant_id}, ${`TG-${url}-`} || n, 1, 'test', 'paid', '{"n":' || n || '}', ${clock()}
        from generate_series(1, ${count}::integer) n`)
      await tx.rows(sql`
        insert into deliveries (merchant_id, tx_reference, sequence, mode, url, lane, style, created_at, begun_at,
          next_try_at, retry, alone)
        select ${merchant_id}, ${`TG-${url}-`} || n, 1, 'test', ${url}, ${laneOf(url, 'test', { ipn_url: null })}, 'post', at, at, at, ${retry},
          true
        from (select n, ${clock()}::timestamptz - (${count}::integer - n) * interval '1 ms' as at
          from generate_series(1, ${count}::integer) n) as due`)
    })
    await db.rows(sql`analyze deliveries`)
  }

  return {
    db,
    url: database.url,
    masterKeys,
    merchants,
    ids: merchants.map(({ merchant_id }) => merchant_id),
    troubles,
    withheld,
    clock,
    pass: (ms: number) => void (now += ms),
    setNow: (at: Date) => void (now = at.getTime()),
    dispatcher,
    notify,
    addBacklog,
    deliveries: () => db.rows<Delivery>(sql`select * from deliveries order by tx_reference, sequence`),
    tries: () => db.rows<Try>(sql`select * from ${everyTry} t order by tx_reference, sequence, try`),
    async close() {
      await db.end()
      await database.drop()
    },
  }
}

// The fixture of a test file. Before each test its tables are empty and the clock is at noon.
export function useDeliveryFixture(merchantCount = 1): DeliveryFixture {
  const fixture = {} as DeliveryFixture
  beforeAll(async () => void Object.assign(fixture, await openDeliveryFixture(merchantCount)))
  beforeEach(async () => {
    await fixture.db.rows(sql`truncate deliveries, notifications, tries, messages, acknowledged_paths`)
    await fixture.db.rows(sql`delete from payments`)
    fixture.setNow(noon)
    fixture.troubles.length = 0
  })
  afterAll(() => fixture.close())
  return fixture
}

// Sends everything that can be sent now, and saves the results.
export async function dispatchAll(...dispatchers: Dispatcher[]) {
  for (let busy = true; busy; ) {
    busy = false
    for (const dispatcher of dispatchers) {
      dispatcher.requestPoll()
      if ((await dispatcher.step()) > 0) busy = true
    }
    await Promise.all(dispatchers.map(dispatcher => dispatcher.finished()))
    if (dispatchers.some(isAwake)) busy = true
  }
}

// More became due while parked deliveries were written.
export const isAwake = (dispatcher: Dispatcher) => dispatcher.restMs() === 0

// Steps like the loop of the worker until it rests. All tries in flight have reached the gate by then, and stay there.
export async function stepUntilRest(dispatcher: Dispatcher, gate: { waiting: unknown[] }): Promise<number> {
  dispatcher.requestPoll()
  let steps = 0
  do {
    for (steps++; (await dispatcher.step()) > 0; steps++) await nextTurn()
    await dispatcher.flushed()
  } while (isAwake(dispatcher))
  await until(() => dispatcher.inFlight() === gate.waiting.length)
  return steps
}

// Waits for other turns of the event loop.
export async function until(isSo: () => boolean | Promise<boolean>) {
  while (!(await isSo())) await nextTurn()
}
