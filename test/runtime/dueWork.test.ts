import { beforeEach, expect, test } from 'vitest'
import { dueKinds } from '../../src/core/dueKinds.ts'
import { createDueWork, type DueWork } from '../../src/runtime/dueWork.ts'

const noon = Date.UTC(2026, 5, 1, 12)
let monotonic = 0
let receivesWakeUps = true
let work: DueWork

const pass = (ms: number) => void (monotonic += ms)
const check = (times = {}) => work.checked(monotonic, times)

beforeEach(() => {
  monotonic = 0
  receivesWakeUps = true
  work = createDueWork({
    clock: () => new Date(noon + monotonic),
    receivesWakeUps: () => receivesWakeUps,
    random: () => 0,
    monotonicMs: () => monotonic,
  })
})

// A node that has searched once, and knows that nothing is due.
function settle() {
  for (const kind of dueKinds) work.begins(kind)
  check()
}

test('without a due check every search runs', () => {
  expect(work.begins('attempts')).toBe(true)
  expect(work.begins('attempts')).toBe(true)
})

test('no search runs while nothing is due', () => {
  settle()
  expect(dueKinds.filter(kind => work.mayBeDue(kind))).toEqual([])
})

test('a search runs when its work is due, and not again before the next check', () => {
  settle()
  check({ expiry: noon + 1500 })
  expect(work.begins('expiry')).toBe(false)
  pass(1500)
  expect(work.begins('attempts')).toBe(false)
  expect(work.begins('expiry')).toBe(true)
  expect(work.begins('expiry')).toBe(false)
  check({ expiry: noon + 1500 }) // it was locked
  expect(work.begins('expiry')).toBe(true)
})

for (const [what, lose] of [
  ['a node that does not hear the others', () => (receivesWakeUps = false)],
  ['a node whose last check is seven seconds ago', () => pass(7000)],
  ['a node whose check failed', () => work.failed()],
] as const)
  test(`${what} searches for everything`, () => {
    settle()
    lose()
    expect(dueKinds.filter(kind => !work.mayBeDue(kind))).toEqual([])
  })

test('each kind is searched for once a minute, whatever the checks say', () => {
  settle()
  for (let seconds = 0; seconds < 59; seconds++) {
    pass(1000)
    check()
    expect(work.mayBeDue('sms')).toBe(false)
  }
  pass(1000)
  check()
  expect(work.begins('sms')).toBe(true)
  expect(work.begins('sms')).toBe(false)
})

test('a search that found work runs again, and makes the node busy for ten seconds', async () => {
  settle()
  let became = 0
  work.onBusy(() => void became++)
  const results = [3, 0]
  const search = work.gated('refunds', async () => results.shift())
  work.reopen('refunds')
  expect(await search()).toBe(3)
  expect(work.isBusy()).toBe(true)
  expect(await search()).toBe(0)
  expect(await search()).toBe(0)
  expect(results).toEqual([])
  expect(became).toBe(1)
  pass(10_000)
  expect(work.isBusy()).toBe(false)
})

test('a search that failed runs again', async () => {
  settle()
  let searches = 0
  const search = work.gated('email', async () => {
    if (searches++ === 0) throw new Error('the database is away')
  })
  work.reopen('email')
  await expect(search()).rejects.toThrow('away')
  await search()
  await search()
  expect(searches).toBe(2)
})

test('a search that is needed for another reason runs', async () => {
  settle()
  let isNeeded = true
  let searches = 0
  const search = work.gated(
    'expiry',
    async () => void searches++,
    () => isNeeded,
  )
  await search()
  isNeeded = false
  await search()
  expect(searches).toBe(1)
})
