import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Delivery, HttpOutcome, Try } from '../../../src/core/notification/delivery.ts'
import { offsets } from '../../../src/core/notification/schedule.ts'
import { sql } from '../../../src/store/db.ts'
import type { Dispatcher } from '../../../src/workers/deliveries/dispatcher.ts'
import { after, hours, minutes, noon, seconds } from '../../support/payments/rows.ts'
import { createRandom, randomSeed } from '../../support/random.ts'
import { failWith, fakeOutbound, referenceOf, respond } from './answers.ts'
import { type DeliveryFixture, dispatchAll, isAwake, openDeliveryFixture, until } from './fixture.ts'

const slack = seconds(5) // how far the test moves the clock at once

const ways: Record<string, (at: number) => HttpOutcome> = {
  refused: () => respond(404),
  redirected: () => respond(302),
  'thanked by another word': () => respond(204),
  'in trouble': () => respond(500),
  'not there': () => failWith('no_connection'),
  hanging: () => failWith('timeout'),
  'of many moods': at =>
    [respond(404), respond(503), failWith('tls'), failWith('bad_answer'), respond(299)][
      at % 5
    ] as HttpOutcome,
  'wishing what only 429 and 503 may': at => respond([500, 404, 302, 204][at % 4] as number, '99999'),
  'asking for seconds': at => respond(503, String(at * 60)),
  'asking for a date': at => respond(429, after(hours(at)).toUTCString()),
  'asking for eternity': () => respond(429, '99999999999999'),
  'asking for nonsense': () => respond(503, '-5 soon'),
}

let fixture: DeliveryFixture
beforeAll(async () => void (fixture = await openDeliveryFixture(8)))
afterAll(() => fixture.close())

// Moves the clock from one event to the next, until there is none left.
async function liveOn(dispatcher: Dispatcher, sleepers: Map<number, (() => void)[]>) {
  for (;;) {
    const asleep = () => [...sleepers.values()].flat().length
    await until(async () => {
      dispatcher.requestPoll()
      const busy = (await dispatcher.step()) > 0
      await dispatcher.flushed()
      const [row] = await fixture.db.rows<{ leased: number }>(
        sql`select count(*)::integer as leased from deliveries where lease_token is not null`,
      )
      return !busy && !isAwake(dispatcher) && row?.leased === asleep()
    })
    const next = await fixture.db.one<{ at: Date | null }>(
      sql`select min(next_try_at) as at from deliveries where lease_token is null`,
    )
    const times = [...sleepers.keys(), ...(next?.at ? [next.at.getTime()] : [])]
    if (times.length === 0) return
    const at = Math.max(Math.min(...times), fixture.clock().getTime())
    const step = Math.min(slack, Math.max(250, (at - noon.getTime()) / 500))
    fixture.setNow(new Date(at + step))
    for (const [time, wakers] of sleepers)
      if (time <= at + step) {
        sleepers.delete(time)
        for (const wake of wakers) wake()
      }
  }
}

const jitterOf = (gap: number) => Math.min(Math.max(seconds(2), gap / 10), minutes(5))

// What is wrong with the tries of a delivery whose tries all failed.
function faultsOf(delivery: Delivery, tries: readonly Try[], asks: boolean): string[] {
  const faults = tries.flatMap(({ try: number, started_at }) => {
    const at = number - 1
    const [offset = -1, before = 0] = [offsets[at], offsets[at - 1]]
    const ms = started_at.getTime() - delivery.begun_at.getTime()
    const jitter = at === 0 ? 0 : jitterOf(offset - before)
    const latest = offset + Math.max(jitter, asks && at < offsets.length - 1 ? offset - before : 0)
    return ms >= offset && ms <= latest + slack ? [] : [`try ${number} at ${ms}`]
  })
  if (tries.length !== 16 || delivery.tries !== 16)
    faults.push(`${tries.length} tries, said ${delivery.tries}`)
  if (delivery.next_try_at || delivery.acknowledged_at || delivery.lease_token) faults.push('has not ended')
  if (!delivery.exhausted_at || delivery.exhausted_at > after(hours(24))) faults.push('not exhausted in time')
  return faults
}

test('deliveries to endpoints that fail in every way have 16 tries in their bands, and are exhausted then', async () => {
  const { random } = createRandom(randomSeed())
  const names = Object.keys(ways)
  const fates = new Map<string, { way: string; isSlow: boolean; tries: number }>()
  for (let at = 0; at < 120; at++) {
    const merchant_id = fixture.ids[at % 8] as string
    const tx_reference = await fixture.notify({ merchant_id, url: `https://shop${at}.example/ipn` })
    fates.set(tx_reference, { way: names[at % names.length] as string, isSlow: at < names.length, tries: 0 })
  }
  const sleepers = new Map<number, (() => void)[]>()
  const outbound = fakeOutbound(async request => {
    const fate = fates.get(referenceOf(request)) ?? { way: '', isSlow: false, tries: 0 }
    const answer = (ways[fate.way] as (at: number) => HttpOutcome)(fate.tries++)
    const ends = fixture.clock().getTime() + Math.floor(random() * seconds(10))
    if (fate.isSlow)
      await new Promise<void>(wake => sleepers.set(ends, [...(sleepers.get(ends) ?? []), wake]))
    return answer
  })
  await liveOn(fixture.dispatcher(outbound, { seed: randomSeed() }), sleepers)

  const [deliveries, tries] = [await fixture.deliveries(), await fixture.tries()]
  const faults = deliveries.flatMap(delivery => {
    const { tx_reference } = delivery
    const way = fates.get(tx_reference)?.way ?? ''
    const own = tries.filter(one => one.tx_reference === tx_reference)
    return faultsOf(delivery, own, way.startsWith('asking')).map(fault => `${way}: ${fault}`)
  })
  expect(faults).toEqual([])
  expect([deliveries.length, tries.length, fixture.troubles]).toEqual([120, 120 * 16, []])
})

for (const [outage, from, ms, kept] of [
  ['an hour at the beginning', 0, hours(1), 1 + 16 - 8],
  ['three minutes', seconds(20), minutes(3), 16 - 1],
  ['ten hours in the middle', minutes(10), hours(10), 6 + 1 + 3],
  ['the last hours', hours(20), hours(10), 15 + 1], // the last one is the grace try
  ['all of it', 0, hours(300), 1],
] as const)
  test(`the gateway is down for ${outage}: all overdue tries are one try at once, and there are ${kept} in all`, async () => {
    fixture.setNow(after(hours(1000), fixture.clock()))
    const begun = fixture.clock()
    const tx_reference = await fixture.notify({
      merchant_id: fixture.ids[0] as string,
      url: 'https://refuses.example/',
    })
    const dispatcher = fixture.dispatcher(fakeOutbound(() => respond(404)))
    for (;;) {
      const delivery = (await fixture.deliveries()).find(one => one.tx_reference === tx_reference)
      if (!delivery?.next_try_at) break
      const due = delivery.next_try_at.getTime() - begun.getTime()
      fixture.setNow(after(due >= from && due < from + ms ? from + ms : due, begun))
      await dispatchAll(dispatcher)
    }
    const tries = (await fixture.tries()).filter(one => one.tx_reference === tx_reference)
    const starts = tries.map(({ started_at }) => started_at.getTime() - begun.getTime())
    expect(starts).toHaveLength(kept)
    expect(starts.filter(at => at >= from && at < from + ms)).toEqual([])
    expect(starts.filter(at => at > hours(24)).length).toBe(from + ms > hours(24) ? 1 : 0)
    expect(starts).toContain(from + ms)
  })
