import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Delivery } from '../../../src/core/notification/delivery.ts'
import { sql } from '../../../src/store/db.ts'
import { takeAlone, takeAmongSiblings } from '../../../src/store/notifications/deliveries.ts'
import { after, noon, seconds } from '../../support/payments/rows.ts'
import { createGateKeeper, idOf, playedOutbound, says, sequenceOf, thanks } from './answers.ts'
import { carryAll, openPost, type Post, stepUntilRest } from './post.ts'

let post: Post
let ama: string
beforeAll(async () => void (post = await openPost(1)))
beforeEach(async () => {
  await post.db.rows(sql`truncate deliveries, notifications, tries`)
  post.setNow(noon)
  ama = post.ids[0] as string
})
afterAll(() => post.close())

const tellOf = async (tx_reference: string, times: number, url?: string) => {
  for (let at = 0; at < times; at++) await post.tell({ merchant_id: ama, tx_reference, url })
}

test('three of one payment are sent one after the other, the lowest first', async () => {
  const monitor = createGateKeeper()
  const dispatcher = post.dispatcher(playedOutbound(monitor.hold))
  await tellOf('TG-1', 3)
  const order: string[][] = []
  for (let wave = 0; wave < 3; wave++) {
    await stepUntilRest(dispatcher, monitor)
    order.push(monitor.waiting.map(({ request }) => idOf(request)))
    monitor.letGo()
    await dispatcher.finished()
  }
  expect(order).toEqual([['TG-1-N1'], ['TG-1-N2'], ['TG-1-N3']])
})

test('an older one that failed does not block the newer one; when both are due, it goes first', async () => {
  const sent: string[] = []
  const dispatcher = post.dispatcher(
    playedOutbound(request => {
      sent.push(idOf(request))
      return sequenceOf(request) === 1 ? says(404) : sent.length < 4 ? says(500) : thanks()
    }),
  )
  await tellOf('TG-1', 1)
  await carryAll(dispatcher)
  post.pass(seconds(5))
  await tellOf('TG-1', 1)
  await carryAll(dispatcher)
  expect(sent).toEqual(['TG-1-N1', 'TG-1-N2'])
  post.pass(seconds(30)) // both are overdue, the older one for longer
  await tellOf('TG-1', 1) // a first try, which looks come upon before any retry
  await carryAll(dispatcher)
  expect(sent.slice(2)).toEqual(['TG-1-N1', 'TG-1-N2', 'TG-1-N3'])
})

test('one that waits in a crowd is not overtaken by a newer one of its payment', async () => {
  const monitor = createGateKeeper()
  const dispatcher = post.dispatcher(playedOutbound(monitor.hold))
  await post.addCrowd(ama, 800, 'https://shop.example/ipn')
  await stepUntilRest(dispatcher, monitor)
  const [last] = await post.db.rows<{ tx_reference: string; parked: boolean }>(
    sql`select tx_reference, parked from deliveries where parked order by begun_at desc limit 1`,
  )
  expect(last?.parked).toBe(true)
  post.pass(1000)
  await tellOf(last?.tx_reference as string, 1)
  const sent: string[] = []
  while (monitor.waiting.length > 0) {
    sent.push(...monitor.waiting.map(({ request }) => idOf(request)))
    monitor.letGo()
    await dispatcher.finished()
    await stepUntilRest(dispatcher, monitor)
  }
  const own = sent.filter(id => id.startsWith(`${last?.tx_reference}-N`))
  expect(own.map(id => id.at(-1))).toEqual(['1', '2'])
  expect(sent).toHaveLength(801)
})

test('an older one whose own lane is dead does not block the newer one in another', async () => {
  const sent: string[] = []
  const dispatcher = post.dispatcher(
    playedOutbound(request => {
      if (request.url.includes('dead')) return { ...says(500) }
      sent.push(idOf(request))
      return thanks()
    }),
  )
  for (let at = 0; at < 6; at++) await tellOf(`TG-${at}`, 1, 'https://dead.example/')
  await carryAll(dispatcher)
  await tellOf('TG-5', 1, 'https://new.example/')
  await carryAll(dispatcher)
  expect(sent).toEqual(['TG-5-N2'])
})

test('a look that is out of date does not bring two of a payment on their way', async () => {
  await tellOf('TG-1', 2)
  const [first, second] = (await post.deliveries()) as [Delivery, Delivery]
  const lease = { token: 'one', until: after(seconds(30)), now: noon }
  expect(await takeAmongSiblings(post.db, first, lease)).toMatchObject({ sequence: 1, tries: 1 })
  expect(await takeAlone(post.db, [second], { ...lease, token: 'two' })).toEqual([])
  expect(await takeAmongSiblings(post.db, second, { ...lease, token: 'three' })).toBeUndefined()
})
