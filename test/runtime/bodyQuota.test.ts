import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Refusal } from '../../src/core/interface/refusal.ts'
import { type BodyQuota, createBodyQuota } from '../../src/runtime/bodyQuota.ts'

const KiB = 1024
const MiB = 1024 * KiB

let now = 0
let quota: BodyQuota
beforeEach(() => {
  vi.useFakeTimers()
  now = 0
  quota = createBodyQuota(() => now)
})
afterEach(() => vi.useRealTimers())

function pass(ms: number, step = 1000) {
  for (let passed = 0; passed < ms; passed += step) {
    now += step
    vi.advanceTimersByTime(step)
  }
}

// A body of which so much has been received, and what became of it.
function open(address: string, bytes: number, { declared = bytes, isPaused = false } = {}) {
  const seen: { refusal?: Refusal } = {}
  const held = quota.open(address, declared >= 8 * KiB, {
    drop: refusal => void (seen.refusal = refusal),
    isPaused: () => isPaused,
  })
  held.grow(bytes, bytes)
  return { ...held, refused: () => seen.refusal?.http, refusal: () => seen.refusal }
}

const many = (n: number, make: (at: number) => ReturnType<typeof open>) =>
  Array.from({ length: n }, (_, at) => make(at))
const refusals = (bodies: ReturnType<typeof open>[]) => {
  const seen: Record<string, number> = {}
  for (const body of bodies) seen[body.refused() ?? 'read'] = (seen[body.refused() ?? 'read'] ?? 0) + 1
  return seen
}

describe('one network', () => {
  test('has 16 MiB: beyond it, a body that waits gives way to the one that arrives', () => {
    const flood = many(300, () => open('192.0.2.1', 64 * KiB))
    expect(refusals(flood)).toEqual({ read: 256, 429: 44 })
    expect(flood.at(-1)?.refused()).toBeUndefined()
    expect(refusals(many(100, () => open('192.0.2.2', 64 * KiB)))).toEqual({ read: 100 })
  })

  test('the largest gives way: no small body of the same network does', () => {
    const small = many(50, () => open('192.0.2.1', 600))
    const flood = many(1119, () => open('192.0.2.1', 60 * KiB, { declared: 64 * KiB }))
    const more = many(50, () => open('192.0.2.1', 4 * KiB))
    expect(refusals([...small, ...more])).toEqual({ read: 100 })
    expect(refusals(flood)[429]).toBeGreaterThan(800)
  })

  test('10,000 bodies that declare 64 KiB and have sent 600 bytes hold up nobody', () => {
    expect(refusals(many(10_000, () => open('192.0.2.1', 600, { declared: 64 * KiB })))).toEqual({
      read: 10_000,
    })
    expect(open('192.0.2.1', 64 * KiB).refused()).toBeUndefined()
  })

  test('is a whole /64 of IPv6', () => {
    const flood = many(300, at => open(`2001:db8::${at.toString(16)}`, 64 * KiB))
    expect(refusals(flood)).toEqual({ read: 256, 429: 44 })
  })
})

describe('many networks together', () => {
  test('large bodies have half of the memory, small ones all of it', () => {
    const large = many(1000, at => open(`198.51.100.${at % 100}`, 60 * KiB))
    const held = (refusals(large).read ?? 0) * 60 * KiB
    expect(held).toBeLessThanOrEqual(32 * MiB)
    expect(held).toBeGreaterThan(31 * MiB)
    const small = many(8000, at => open(`203.0.113.${at % 100}`, 4 * KiB))
    expect(refusals(small)).toEqual({ read: 8000 })
    expect((refusals(large).read ?? 0) * 60 * KiB).toBe(held)
  })

  test('a body is large when it declares 8 KiB, or has sent them', () => {
    const declared = many(9000, at => open(`198.51.100.${at % 100}`, 4 * KiB, { declared: 8 * KiB }))
    expect((refusals(declared).read ?? 0) * 4 * KiB).toBeLessThanOrEqual(32 * MiB)
    const chunked = many(9000, at => open(`203.0.113.${at % 100}`, 8 * KiB, { declared: 0 }))
    expect((refusals([...declared, ...chunked]).read ?? 0) * 4 * KiB).toBeLessThanOrEqual(32 * MiB)
  })

  test('the network that holds the most gives way, in words of being busy', () => {
    const few = many(10, () => open('192.0.2.1', 60 * KiB))
    const crowd = [1, 2, 3].flatMap(host => many(250, () => open(`192.0.2.10${host}`, 60 * KiB)))
    expect(refusals(few)).toEqual({ read: 10 })
    const refusal = crowd.find(({ refused }) => refused() === 503)?.refusal()
    expect(refusal).toMatchObject({ code: 'GW-050', retryAfterSeconds: 1, isBodyUnread: true })
    expect(refusal?.message).toMatch(/^Too busy: /)
    expect(refusal?.message).not.toMatch(/records|database/)
  })
})

test('a body that has ended or was aborted occupies nothing, however often it is said', () => {
  for (let round = 0; round < 10; round++) {
    const bodies = many(256, () => open('192.0.2.1', 64 * KiB))
    expect(refusals(bodies)).toEqual({ read: 256 })
    for (const body of bodies) {
      body.close()
      body.close()
    }
  }
})

describe('pace', () => {
  test('a body that stops, or brings a byte a second, is dropped after eight seconds', () => {
    const stopped = open('192.0.2.1', 60 * KiB, { declared: 64 * KiB })
    const drip = open('192.0.2.2', 0, { declared: 1000 })
    for (let second = 1; second <= 7; second++) {
      pass(1000)
      drip.grow(second, KiB)
    }
    expect([stopped.refused(), drip.refused()]).toEqual([undefined, undefined])
    pass(3000)
    expect([stopped.refused(), drip.refused()]).toEqual([408, 408])
  })

  test('a phone that sends 100 bytes a second is read to the end', () => {
    const slow = open('192.0.2.1', 0, { declared: 1800 })
    for (let second = 1; second <= 18; second++) {
      pass(1000)
      slow.grow(100 * second, 2 * KiB)
    }
    expect(slow.refused()).toBeUndefined()
  })

  test('a sender that we do not read from is not slow', () => {
    const paused = open('192.0.2.1', 100, { declared: 1000, isPaused: true })
    pass(60_000)
    expect(paused.refused()).toBeUndefined()
  })

  test('nobody is slow while this process stands still', () => {
    const body = open('192.0.2.1', 100, { declared: 1000 })
    pass(2000)
    now += 60_000
    pass(4000)
    expect(body.refused()).toBeUndefined()
    pass(8000)
    expect(body.refused()).toBe(408)
  })
})
