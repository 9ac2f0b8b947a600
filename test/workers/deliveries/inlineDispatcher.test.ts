import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { cancel } from '../../../src/actions/payments/cancel.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { newReference, newToken } from '../../../src/runtime/ids.ts'
import { type Db, openDb, sql } from '../../../src/store/db.ts'
import { endLeasesOf } from '../../../src/store/notifications/deliveries.ts'
import { storePayments } from '../../../src/store/payments/payments.ts'
import type { Dispatcher } from '../../../src/workers/deliveries/dispatcher.ts'
import { cuts, type PostgresProxy, startPostgresProxy } from '../../support/database/postgresProxy.ts'
import { changesOn } from '../../support/gateway/runtime.ts'
import { after, aPayment, hours, noon, seconds } from '../../support/payments/rows.ts'
import { createGateKeeper, fails, idOf, playedOutbound, says, thanks } from './answers.ts'
import { carryAll, openPost, type Post, until } from './post.ts'

// What a process has committed and could send leaves without being looked for.
let post: Post
let db: Db // of this node
let node: ReturnType<typeof changesOn>
let proxy: PostgresProxy
let ama: string
let kofi: string
beforeAll(async () => {
  post = await openPost(2)
  proxy = await startPostgresProxy(post.url)
  db = openDb(proxy.url, 4)
  node = changesOn(db)
  ;[ama, kofi] = post.ids as [string, string]
})
beforeEach(async () => {
  await post.db.rows(sql`truncate deliveries, notifications, tries, acknowledged_paths`)
  post.setNow(noon)
})
const ends: (() => void)[] = []
afterEach(() => {
  proxy.onStatement = () => undefined
  for (const end of ends.splice(0)) end()
})
afterAll(async () => {
  await db.end()
  await proxy.stop()
  await post.close()
})

async function addPayments(merchant_id: string, count: number, ipn_url = 'https://shop.example/ipn') {
  const payments = Array.from({ length: count }, (): Payment => {
    const tx_reference = newReference(post.clock())
    const dates = { created_at: noon, updated_at: noon, expires_at: after(hours(1)) }
    const tx_token = newToken(merchant_id, noon)
    return aPayment({ merchant_id, tx_reference, tx_token, invoice_id: tx_reference, ipn_url, ...dates })
  })
  await storePayments(post.db, payments)
  return payments
}

// A node that carries what it commits.
function openNode(answer = thanks, settings: Parameters<Post['dispatcher']>[1] = {}, own = node) {
  const sent: string[] = []
  const monitor = createGateKeeper()
  const outbound = playedOutbound(request => {
    sent.push(idOf(request))
    return request.url.includes('hangs') ? monitor.hold(request) : answer()
  })
  const dispatcher = post.dispatcher(outbound, settings)
  const told = { left: 0 }
  own.localWorkers.dispatch = { reserve: dispatcher.reserve, undispatched: () => void told.left++ }
  ends.push(() => void (own.localWorkers.dispatch = undefined))
  return { sent, keeper: monitor, dispatcher, told }
}

const cancelAll = (payments: readonly Payment[]) =>
  Promise.all(payments.map(payment => cancel(node, payment, post.clock())))
const nameOf = ({ tx_reference }: Payment, sequence = 1) => `${tx_reference}-N${sequence}`
const areLeased = async () => (await post.deliveries()).map(one => one.lease_token !== null)

async function quiet(dispatcher: Dispatcher) {
  await dispatcher.finished()
  expect(dispatcher.inFlight()).toBe(0)
}

test('it leaves and is written down without a step of the dispatcher', async () => {
  const { sent, dispatcher, told } = openNode()
  const payments = [...(await addPayments(ama, 1)), ...(await addPayments(kofi, 1))]
  await cancelAll(payments)
  await quiet(dispatcher)
  expect(sent.toSorted()).toEqual(payments.map(payment => nameOf(payment)).toSorted())
  for (const one of await post.deliveries())
    expect(one).toMatchObject({ tries: 1, last_try: 1, lease_token: null, next_try_at: null, alone: true })
  expect(told.left).toBe(0)
  expect(post.troubles).toEqual([])
})

test('what is refused by the database is not sent, its slot is free, and its neighbours leave', async () => {
  const { sent, dispatcher } = openNode()
  const [sick, ...others] = await addPayments(ama, 3)
  await post.db.rows(
    sql([
      `create or replace function poison() returns trigger language plpgsql as $$ begin
        if new.tx_reference = '${sick?.tx_reference}' then raise exception 'poison'; end if; return new; end $$`,
    ]),
  )
  await post.db.rows(
    sql`create trigger poison before insert on events for each row execute function poison()`,
  )
  const ended = await Promise.allSettled([sick as Payment, ...others].map(one => cancel(node, one, noon)))
  await post.db.rows(sql`drop trigger poison on events`)
  expect(ended.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
  await carryAll(dispatcher)
  await quiet(dispatcher)
  expect(sent.toSorted()).toEqual(others.map(payment => nameOf(payment)).toSorted())
})

for (const cut of cuts)
  test(`the commit is ${cut}: it is sent once, and its slot is free`, async () => {
    const { sent, dispatcher } = openNode()
    const [payment] = (await addPayments(ama, 1)) as [Payment]
    let isCut = false
    proxy.onStatement = text => {
      if (text !== 'commit' || isCut) return undefined
      isCut = true
      return cut
    }
    await cancel(node, payment, noon)
    expect(isCut).toBe(true)
    await until(async () => (await post.deliveries()).every(one => one.lease_token === null))
    await carryAll(dispatcher)
    await quiet(dispatcher)
    expect(sent).toEqual([nameOf(payment)])
    expect(await post.deliveries()).toMatchObject([{ tries: 1, last_result: 'acknowledged' }])
  })

test('nobody hears of the commit, nor of anything after it: what may be there becomes free', async () => {
  const own = openDb(proxy.url, 1)
  const alone = changesOn(own)
  const { sent, dispatcher } = openNode(thanks, {}, alone)
  const [payment] = (await addPayments(ama, 1)) as [Payment]
  let isCut = false
  proxy.onStatement = text => {
    isCut ||= text === 'commit'
    return isCut ? 'unheard' : undefined
  }
  await expect(cancel(alone, payment, noon)).rejects.toThrow()
  await own.end()
  expect(sent).toEqual([])
  await dispatcher.finished() // which has another way to the database
  expect(await post.deliveries()).toMatchObject([{ lease_token: null, lease_until: null, tries: 0 }])
  await carryAll(dispatcher)
  expect(sent).toEqual([nameOf(payment)])
})

test('what a dead node had in its hands is sent by another when its leases are ended', async () => {
  const dead = { token: () => 'n7-gone', isOurs: () => true, confirm: () => Promise.resolve(true) }
  const { sent, keeper } = openNode(thanks, { leases: dead })
  const [payment] = (await addPayments(ama, 1, 'https://hangs.example/ipn')) as [Payment]
  await cancel(node, payment, noon)
  const other = post.dispatcher(playedOutbound(thanks))
  await carryAll(other)
  expect(await post.deliveries()).toMatchObject([{ tries: 1, acknowledged_at: null }])
  expect(await endLeasesOf(post.db, 7, post.clock())).toBe(1)
  await carryAll(other)
  expect(await post.deliveries()).toMatchObject([{ tries: 2, last_result: 'acknowledged' }])
  await until(() => keeper.waiting.length === 1)
  expect([sent, keeper.waiting.length]).toEqual([[nameOf(payment)], 1])
  keeper.letGo()
})

test('a node that is not sure of its leases any more sends nothing, and what it had becomes free', async () => {
  let isSure = true
  const leases = { token: () => 'n7-unsure', isOurs: () => isSure, confirm: () => Promise.resolve(isSure) }
  const { sent, dispatcher } = openNode(thanks, { leases })
  const [payment] = (await addPayments(ama, 1)) as [Payment]
  proxy.onStatement = text => {
    if (text === 'commit') isSure = false
    return undefined
  }
  await cancel(node, payment, noon)
  await dispatcher.finished()
  expect(sent).toEqual([])
  expect(await post.deliveries()).toMatchObject([{ lease_token: null, tries: 0 }])
  const other = post.dispatcher(playedOutbound(thanks))
  await carryAll(other)
  expect(await post.deliveries()).toMatchObject([{ tries: 1, last_result: 'acknowledged' }])
})

test('while it is on its way no other node takes it', async () => {
  const { sent, keeper, dispatcher } = openNode()
  const other = post.dispatcher(playedOutbound(thanks))
  const [payment] = (await addPayments(ama, 1, 'https://hangs.example/ipn')) as [Payment]
  await cancel(node, payment, noon)
  await carryAll(other)
  expect(await areLeased()).toEqual([true])
  await until(() => keeper.waiting.length === 1)
  keeper.letGo()
  await quiet(dispatcher)
  expect(sent).toEqual([nameOf(payment)])
  expect(await post.deliveries()).toMatchObject([{ tries: 1, last_result: 'acknowledged' }])
})

test('a lane has its slots and no more; what has none waits as ever, and those who wait come first', async () => {
  const { sent, keeper, dispatcher, told } = openNode()
  const hanging = 'https://hangs.example/ipn'
  const payments = await addPayments(ama, 3, hanging)
  await cancelAll(payments)
  expect((await areLeased()).filter(Boolean)).toHaveLength(1) // a lane begins with one
  await until(() => sent.length > 0)
  expect([sent.length, told.left]).toEqual([1, 1])
  dispatcher.requestPoll()
  await dispatcher.step() // now it knows who waits
  keeper.letGo()
  await until(() => dispatcher.inFlight() === 0)
  const [late] = (await addPayments(ama, 1, hanging)) as [Payment]
  await cancel(node, late, post.clock())
  expect(sent).toHaveLength(1)
  const carrying = carryAll(dispatcher)
  while (sent.length < 4) {
    await until(() => keeper.waiting.length > 0)
    keeper.letGo()
  }
  await carrying
  expect(sent.at(-1)).toBe(nameOf(late))
})

test('a lane in trouble is left alone, also by what has just been committed', async () => {
  const { sent, dispatcher, told } = openNode(() => fails('timeout'))
  for (const payment of await addPayments(ama, 5)) {
    await cancel(node, payment, noon)
    await dispatcher.finished()
  }
  expect(dispatcher.breakers()).toMatchObject([{ state: 'open' }])
  const [payment] = (await addPayments(ama, 1)) as [Payment]
  await cancel(node, payment, noon)
  await dispatcher.finished()
  expect([sent.length, told.left]).toEqual([5, 1])
  post.pass(seconds(31)) // one at a time, to see: that is the dispatcher's choice
  const [another] = (await addPayments(ama, 1)) as [Payment]
  await cancel(node, another, post.clock())
  await dispatcher.finished()
  expect([sent.length, told.left]).toEqual([5, 2])
})

test('a second notification of a payment waits for the first', async () => {
  const { sent, dispatcher, told } = openNode(() => says(500))
  const [payment] = (await addPayments(ama, 1)) as [Payment]
  await post.tell({ merchant_id: ama, tx_reference: payment.tx_reference }) // has not left yet
  await cancel(node, payment, noon)
  expect([await areLeased(), sent, told.left]).toEqual([[false, false], [], 1])
  expect(dispatcher.inFlight()).toBe(0) // its slot was given back
  await carryAll(dispatcher)
  expect(sent[0]).toBe(nameOf(payment, 1))
})

test('in a pause nothing is kept, and what was kept before it is left to its lease', async () => {
  let paused: Promise<void> | undefined
  const { sent, dispatcher, told } = openNode(thanks, { pause: () => paused })
  const [before, during] = (await addPayments(ama, 2)) as [Payment, Payment]
  proxy.onStatement = text => {
    if (text === 'commit') paused = new Promise(() => {})
    return undefined
  }
  await cancel(node, before, noon)
  await cancel(node, during, noon)
  await dispatcher.finished()
  expect([sent, told.left]).toEqual([[], 1])
  expect((await areLeased()).filter(Boolean)).toHaveLength(1)
  paused = undefined
  post.pass(seconds(31))
  await carryAll(dispatcher)
  expect(sent.map(id => id.replace(/-N1$/, '')).toSorted()).toEqual(
    [before, during].map(({ tx_reference }) => tx_reference).toSorted(),
  )
})

test('without anybody who carries here it is written as ever', async () => {
  const { sent, dispatcher } = openNode()
  for (const end of ends.splice(0)) end()
  const [payment] = (await addPayments(ama, 1)) as [Payment]
  await cancel(node, payment, noon)
  expect([await areLeased(), sent]).toEqual([[false], []])
  await carryAll(dispatcher)
  expect(sent).toEqual([nameOf(payment)])
})
