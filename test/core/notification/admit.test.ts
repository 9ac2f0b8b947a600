import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  admit,
  countEnd,
  type Candidate,
  deliveryKey,
  laneKey,
  newTraffic,
  paymentKey,
  type Traffic,
} from '../../../src/core/notification/admit.ts'
import { type Result, results } from '../../../src/core/notification/delivery.ts'
import { type Lane, afterTry, newLane } from '../../../src/core/notification/lane.ts'
import { after, hours, minutes, noon, seconds } from '../../support/payments/rows.ts'

let made = 0
const aCandidate = (changed: Partial<Candidate> = {}): Candidate => ({
  merchant_id: 'ama',
  tx_reference: `TG-${++made}`,
  sequence: 1,
  mode: 'live',
  url: 'https://ama.example/ipn',
  lane: 'live/configured/https://ama.example:443/1',
  retry: false,
  begun_at: noon,
  last_try_at: null,
  by_hand: false,
  ...changed,
})
const many = (count: number, change: (at: number) => Partial<Candidate>) =>
  Array.from({ length: count }, (_, at) => aCandidate(change(at)))

const laneOf = (traffic: Traffic, candidate: Candidate): Lane =>
  traffic.lanes.get(laneKey(candidate)) ?? newLane()

function comeBack(traffic: Traffic, candidate: Candidate, result: Result, started = noon, now = noon) {
  countEnd(traffic, candidate, afterTry(laneOf(traffic, candidate), result, started.getTime(), now.getTime()))
}

// A lane that has acknowledged: eight tries at a time.
function warm(traffic: Traffic, candidate: Candidate) {
  traffic.lanes.set(laneKey(candidate), { ...newLane(), allowed: 8 })
  return candidate
}
function warmed(candidates: readonly Candidate[]) {
  const traffic = newTraffic()
  for (const candidate of candidates) warm(traffic, candidate)
  return traffic
}
const shop = (at: number) => ({
  merchant_id: `shop${at}`,
  lane: `live/configured/https://shop${at}.example:443/1`,
})

const acknowledged = (at: number) => `live/acknowledged/https://${at}.example:443/1`
const otherLane = (at: number) => `live/shared-1/https://${at}.example:443`
const requestLane = (at: number) =>
  at === 0 ? 'live/acknowledged/https://ama.example:443/1' : `live/shared-${at}/https://ama.example:443`

for (const [why, due, most] of [
  ['one lane: 8', many(50, () => ({})), 8],
  ['the request lanes of one origin: 8', many(50, at => ({ lane: requestLane(at % 4) })), 8],
  ['one merchant with many addresses of requests: 8', many(50, at => ({ lane: otherLane(at) })), 8],
  [
    'the same, of test mode too: 8',
    many(50, at => ({ lane: `${at % 2 ? 'test' : 'live'}/shared-1/https://${at}.example:443` })),
    8,
  ],
  [
    'the same, with lane names of an earlier version: 8',
    many(50, at => ({ lane: `https://${at}.example:443` })),
    8,
  ],
  ['one merchant with many acknowledged paths: 12', many(50, at => ({ lane: acknowledged(at) })), 12],
  [
    'one merchant with many acknowledged paths and its own lane: 16',
    many(99, at => (at < 50 ? { lane: acknowledged(at) } : {})),
    16,
  ],
  ['many merchants with a lane each: 128', many(300, at => shop(at)), 128],
  ['many merchants with retries: 64', many(300, at => ({ ...shop(at), retry: true })), 64],
  ['twenty merchants with many deliveries: 96, then none gets more', many(300, at => shop(at % 20)), 96],
  ['one payment: 1', many(10, at => ({ tx_reference: 'TG-same', sequence: at + 1 })), 1],
] as const)
  test(`the most in flight for ${why}`, () => {
    const { take, park, wait } = admit(due, warmed(due), noon)
    expect([take.length, park.length, wait.length]).toEqual([most, 0, due.length - most])
  })

test('a lane has at most an eighth of the free slots, or one: a lane without a try finds a slot', () => {
  const busy = many(900, at => shop(at % 50)) // fifty lanes that hang
  const traffic = warmed(busy)
  const taken = admit(busy, traffic, noon).take.length
  expect(taken).toBeGreaterThan(100)
  expect(taken).toBeLessThan(120)
  const [one, two, three] = [aCandidate(shop(100)), aCandidate(shop(100)), aCandidate(shop(100))]
  warm(traffic, one)
  expect(admit([aCandidate(shop(1)), one, two, three], traffic, noon).take).toEqual([one, two])
})

test('64 retries in flight leave the other 64 slots to first tries', () => {
  const retries = many(200, at => ({ ...shop(at), retry: true }))
  const firsts = many(200, at => shop(1000 + at))
  const traffic = newTraffic()
  admit(retries, traffic, noon)
  expect(admit([...retries, ...firsts], traffic, noon).take).toEqual(firsts.slice(0, 64))
})

test('fifty lanes that hang take fifty slots: a healthy lane has all of its slots', () => {
  const hanging = many(5000, at => shop(at % 50))
  const healthy = many(100, () => shop(77))
  const traffic = newTraffic()
  warm(traffic, healthy[0] as Candidate)
  const { take } = admit([...hanging, ...healthy], traffic, noon)
  expect(take.filter(({ merchant_id }) => merchant_id === 'shop77')).toHaveLength(8)
  expect(take).toHaveLength(58)
})

const slotsBeside = (hanging: readonly Candidate[], lane: string) => {
  const own = many(20, () => ({ lane }))
  const traffic = warmed([...hanging, ...own])
  admit(hanging, traffic, noon)
  return admit(own, traffic, noon).take.length
}
const hangingAddresses = many(50, at => ({ lane: otherLane(at) }))
const hangingProven = many(50, at => ({ lane: acknowledged(at) }))
const hangingTest = many(50, at => ({ lane: `test/acknowledged/https://${at}.example:443/1`, mode: 'test' }))
const configured = 'live/configured/https://ama.example:443/1'
for (const [why, hanging, lane, slots] of [
  ['addresses of requests hang: the configured lane', hangingAddresses, configured, 8],
  ['addresses of requests hang: an acknowledged path', hangingAddresses, requestLane(0), 4],
  ['acknowledged paths hang: the configured lane', hangingProven, configured, 4],
  ['addresses of test mode hang: the configured lane', hangingTest, configured, 8],
  ['addresses of test mode hang: an acknowledged path', hangingTest, requestLane(0), 4],
] as const)
  test(`with any number of ${why} a lane still has ${slots} slots`, () =>
    expect(slotsBeside([...hanging], lane)).toBe(slots))

const probing = (candidate: Candidate) => {
  const traffic = newTraffic()
  const openUntil = after(-seconds(1)).getTime()
  traffic.lanes.set(laneKey(candidate), { ...newLane(), failures: 5, openUntil })
  return traffic
}

test('the probe is a delivery that was never tried, although one that failed is first in the list', () => {
  const [failed, untried] = [aCandidate({ retry: true }), aCandidate()]
  const choice = admit([failed, untried], probing(failed), noon)
  expect(choice).toEqual({ take: [untried], park: [failed], wait: [] })
})

test('if some are parked, one that failed before is the probe only if it was chosen among them', () => {
  const [failed, chosen] = [aCandidate({ retry: true }), aCandidate({ retry: true })]
  const traffic = probing(failed)
  traffic.parked.set(laneKey(failed), failed)
  traffic.probes.set(laneKey(chosen), deliveryKey(chosen))
  expect(admit([failed, chosen], traffic, noon)).toEqual({ take: [chosen], park: [failed], wait: [] })
  expect(traffic.probes.size).toBe(0)
})

for (const [why, changed, pile] of [
  ['was never tried', {}, 'park'],
  ['was tried an hour ago', { last_try_at: after(-hours(1)), begun_at: after(-hours(5)) }, 'park'],
  ['was tried six hours ago', { last_try_at: after(-hours(6)), begun_at: after(-hours(7)) }, 'take'],
  ['has its last try now', { begun_at: after(-hours(23.9)), last_try_at: after(-hours(5)) }, 'take'],
  ['an operator has redelivered', { by_hand: true }, 'take'],
  ['has only its grace try left', { begun_at: after(-hours(60)), last_try_at: after(-hours(50)) }, 'take'],
] as const)
  test(`behind an open breaker, a delivery that ${why}: ${pile}`, () => {
    const candidate = aCandidate(changed)
    const traffic = newTraffic()
    traffic.lanes.set(laneKey(candidate), {
      ...newLane(),
      failures: 5,
      openUntil: after(seconds(30)).getTime(),
    })
    expect(admit([candidate], traffic, noon)[pile]).toEqual([candidate])
    if (pile === 'take')
      expect(
        admit(
          many(9, () => changed),
          traffic,
          noon,
        ).take,
      ).toHaveLength(7) // eight in all
  })

// Deliveries become due in any order, each step admits some, and each try has any result.
const anyLanes = ['live/configured/https://a.example:443/1', 'https://b.example:443'].concat(
  [0, 1, 2, 3].map(requestLane),
  [0, 1, 2].map(acknowledged),
)
const anyCandidate = fc
  .record({
    merchant: fc.nat(4),
    lane: fc.nat(anyLanes.length - 1),
    payment: fc.nat(60),
    retry: fc.boolean(),
    ageMs: fc.nat(hours(30)),
  })
  .map(({ merchant, lane, payment, retry, ageMs }) =>
    aCandidate({
      merchant_id: `shop${merchant}`,
      lane: anyLanes[lane] as string,
      tx_reference: `TG-${merchant}-${payment}`,
      retry,
      begun_at: after(-ageMs),
    }),
  )
const anyOutcome = fc.constantFrom<(Result | 'claim lost')[]>(...results, 'claim lost')
const anyStep = fc.record({
  due: fc.array(anyCandidate, { maxLength: 150, size: 'max' }),
  outcomes: fc.array(anyOutcome, { maxLength: 60, size: 'max' }),
  waitMs: fc.nat(minutes(2)),
})

function countBy(candidates: readonly Candidate[], key: (candidate: Candidate) => string) {
  const counts = new Map<string, number>()
  for (const candidate of candidates) counts.set(key(candidate), (counts.get(key(candidate)) ?? 0) + 1)
  return counts
}

function checkBounds(traffic: Traffic, away: readonly Candidate[]) {
  const count = (key: (candidate: Candidate) => string) => countBy(away, key)
  expect(traffic.total).toBe(away.length)
  expect(traffic.retries).toBe(away.filter(({ retry }) => retry).length)
  expect(traffic.total).toBeLessThanOrEqual(128)
  expect(traffic.retries).toBeLessThanOrEqual(64)
  for (const [key, those] of count(laneKey)) {
    expect(those).toBeLessThanOrEqual(8)
    expect(traffic.lanes.get(key)?.inFlight).toBe(those)
  }
  for (const [merchant, those] of count(({ merchant_id }) => merchant_id)) {
    expect(those).toBeLessThanOrEqual(16)
    expect(traffic.merchants.get(merchant)).toBe(those)
  }
  const requested = away.filter(({ lane }) => !lane.includes('/configured/'))
  const unproven = requested.filter(({ lane }) => !lane.startsWith('live/acknowledged/'))
  for (const [limit, all] of [
    [12, requested],
    [8, unproven],
  ] as const)
    for (const those of countBy(all, ({ merchant_id }) => merchant_id).values())
      expect(those).toBeLessThanOrEqual(limit)
  const ofOrigin = requested.filter(({ lane }) => lane.includes('//ama.example:'))
  for (const those of countBy(ofOrigin, ({ merchant_id }) => merchant_id).values())
    expect(those).toBeLessThanOrEqual(8)
  expect(count(paymentKey).size).toBe(away.length)
}

test('with any deliveries and any results: the limits hold, the order stays, and every slot is freed', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 12 }), steps => {
      const traffic = newTraffic()
      const away: Candidate[] = []
      let now = noon
      const end = (outcome: Result | 'claim lost' | undefined) => {
        const candidate = away.shift()
        if (!candidate) return
        const lane = laneOf(traffic, candidate)
        if (outcome && outcome !== 'claim lost') comeBack(traffic, candidate, outcome, now, now)
        else countEnd(traffic, candidate, { ...lane, inFlight: lane.inFlight - 1 })
      }
      for (const { due, outcomes, waitMs } of steps) {
        now = after(waitMs, now)
        const { take, park, wait } = admit(due, traffic, now)
        for (const pile of [take, park, wait])
          expect(pile).toEqual(due.filter(candidate => pile.includes(candidate)))
        expect(take.length + park.length + wait.length).toBe(due.length)
        away.push(...take)
        checkBounds(traffic, away)
        for (const outcome of outcomes) end(outcome)
        checkBounds(traffic, away)
      }
      while (away.length > 0) end(undefined)
      expect(traffic).toMatchObject({
        total: 0,
        retries: 0,
        merchants: new Map(),
        quotas: new Map(),
        payments: new Set(),
      })
      expect([...traffic.lanes.values()].filter(({ inFlight }) => inFlight !== 0)).toEqual([])
    }),
    { numRuns: 100 },
  )
})
