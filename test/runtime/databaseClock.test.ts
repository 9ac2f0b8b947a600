import { beforeEach, expect, test } from 'vitest'
import { firstEstimate, type Measurement } from '../../src/core/databaseClock.ts'
import { createDatabaseClock, type DatabaseClock } from '../../src/runtime/databaseClock.ts'
import { after, hours, minutes, noon, seconds } from '../support/payments/rows.ts'

// The database and the machine are played: what their clocks show, how long an answer takes, and sleep.
let monotonic = 0
let machineShift = 0
let databaseShift = 0
let answer: () => Promise<Measurement>
let said: string[] = []
let wakes = 0
let clock: DatabaseClock

const look = (): Measurement => ({
  databaseMs: noon.getTime() + monotonic + databaseShift,
  monotonicMs: monotonic,
  roundTripMs: 1,
})
const pass = (ms: number) => void (monotonic += ms)
const isOver = async (pause: Promise<void> | undefined) =>
  Promise.race([pause?.then(() => true), new Promise(done => setImmediate(done, false))])

beforeEach(() => {
  monotonic = machineShift = databaseShift = wakes = 0
  said = []
  answer = async () => look()
  clock = createDatabaseClock(firstEstimate([look()]), {
    measure: () => answer(),
    watch: {
      jumpSuspected: ms => void said.push(`doubted ${ms}`),
      jumpAccepted: ms => void said.push(`believed ${ms}`),
    },
    wake: () => void wakes++,
    monotonicMs: () => monotonic,
    machineMs: () => noon.getTime() + monotonic + machineShift,
  })
})

test('time goes on by itself, and a step of the machine changes nothing', async () => {
  pass(minutes(5))
  machineShift = -hours(1)
  expect(clock.now()).toEqual(after(minutes(5)))
  await clock.step()
  expect([clock.now(), clock.pause(), said]).toEqual([after(minutes(5)), undefined, []])
})

test('a jump pauses the work and is told once; requests go on by the old time; then it is believed', async () => {
  databaseShift = hours(1)
  for (let at = 0; at < 60; at += 2) {
    await clock.step()
    expect([clock.now(), clock.jumpMs()]).toEqual([after(seconds(at)), hours(1)])
    pass(seconds(2))
  }
  const pause = clock.pause()
  expect([await isOver(pause), said]).toEqual([false, [`doubted ${hours(1)}`]])
  await clock.step()
  expect([await isOver(pause), clock.pause(), said[1]]).toEqual([true, undefined, `believed ${hours(1)}`])
  expect(clock.now()).toEqual(after(hours(1) + minutes(1)))
})

test('when the old time comes back, work goes on at once', async () => {
  databaseShift = -hours(1)
  await clock.step()
  const pause = clock.pause()
  databaseShift = 0
  pass(seconds(2))
  await clock.step()
  expect([await isOver(pause), clock.pause(), said]).toEqual([
    true,
    undefined,
    [`doubted ${-hours(1)}`, 'believed 0'],
  ])
})

test('a machine that wakes up does nothing before the database was asked, and asks it now', async () => {
  machineShift = databaseShift = minutes(10) // it slept; the monotonic clock stood still
  const pause = clock.pause()
  expect([await isOver(pause), wakes]).toEqual([false, 1])
  expect([clock.pause(), wakes]).toEqual([pause, 1]) // others wait for the same
  await clock.step()
  expect([await isOver(pause), clock.jumpMs()]).toEqual([false, minutes(10)])
})

test('a machine whose clock was set waits for one answer, and goes on', async () => {
  machineShift = hours(1)
  const pause = clock.pause()
  expect(await isOver(pause)).toBe(false)
  await clock.step()
  expect([await isOver(pause), clock.pause(), said]).toEqual([true, undefined, []])
})

test('a nap of some seconds is made up for at once', async () => {
  machineShift = databaseShift = seconds(7)
  expect(clock.pause()).toBeDefined()
  await clock.step()
  expect([clock.pause(), clock.now()]).toEqual([undefined, after(seconds(7))])
})

test('a machine that slept in the middle of a measurement asks again', async () => {
  answer = async () => {
    const measured = look()
    machineShift = databaseShift = minutes(10)
    return Promise.resolve(measured)
  }
  await clock.step()
  expect([clock.jumpMs(), wakes, clock.pause() !== undefined]).toEqual([0, 1, true])
})

test('a database that cannot be asked changes nothing', async () => {
  answer = () => Promise.reject(new Error('connection refused'))
  pass(minutes(30))
  await expect(clock.step()).rejects.toThrow('refused')
  expect([clock.now(), clock.pause()]).toEqual([after(minutes(30)), undefined])
})

test('one that hangs is given up, and asked no second time meanwhile; what it says later is not heard', async () => {
  let asked = 0
  let say: ((measured: Measurement) => void) | undefined
  answer = () => {
    asked++
    return new Promise(resolve => void (say = resolve))
  }
  await expect(clock.step()).rejects.toThrow('did not return its time')
  await clock.step()
  expect(asked).toBe(1)
  say?.({ ...look(), databaseMs: 0 })
  await new Promise(setImmediate)
  expect([clock.jumpMs(), said]).toEqual([0, []])
  answer = async () => look()
  await clock.step()
})
