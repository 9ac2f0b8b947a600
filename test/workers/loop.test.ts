import { expect, test } from 'vitest'
import { createHeartbeats } from '../../src/runtime/heartbeats.ts'
import { startLoop } from '../../src/workers/loop.ts'

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate)
}

function pausable() {
  let end: (() => void) | undefined
  let over: Promise<void> | undefined
  let asked = 0
  return {
    asked: () => asked,
    begin: () => void (over = new Promise(resolve => void (end = resolve))),
    end() {
      over = undefined
      end?.()
    },
    pause() {
      asked++
      return over
    },
  }
}

test('a paused loop runs no step and does not spin, however often it is woken; after the pause it continues at once', async () => {
  const { begin, end, pause, asked } = pausable()
  let steps = 0
  const loop = startLoop({
    restMs: 1e6,
    step: async () => Promise.resolve(steps++ && 0),
    onTrouble() {},
    pause,
    heartbeat: undefined,
  })
  await turns(3)
  expect(steps).toBe(1)
  begin()
  for (let wakes = 0; wakes < 50; wakes++) {
    loop.wake()
    await turns(1)
  }
  expect([steps, asked()]).toEqual([1, 2])
  end()
  await turns(3)
  expect(steps).toBe(2)
  await loop.stop()
})

test('a loop stops in the middle of a pause', async () => {
  const { begin, pause } = pausable()
  begin()
  let steps = 0
  const loop = startLoop({
    restMs: 1e6,
    step: async () => Promise.resolve(steps++),
    onTrouble() {},
    pause,
    heartbeat: undefined,
  })
  await turns(3)
  await loop.stop()
  expect(steps).toBe(0)
})

test('the heartbeat of a loop is late only in a step that hangs, however long it rests, and silent in a pause and after the end', async () => {
  const { begin, end, pause } = pausable()
  let now = 0
  const heartbeats = createHeartbeats(() => now)
  const overdue = () => heartbeats.overdueMs().get('redaction')
  let finish: (() => void) | undefined
  let beat: (() => void) | undefined
  const loop = startLoop({
    restMs: 3_600_000,
    step: goesOn => {
      beat = goesOn
      return new Promise<void>(resolve => void (finish = resolve))
    },
    onTrouble() {},
    pause,
    heartbeat: heartbeats.of('redaction'),
  })
  now = 200_000
  expect(overdue()).toBe(200_000)
  beat?.() // a long step that goes on
  expect(overdue()).toBe(0)
  finish?.()
  await turns(3)
  now += 3_600_000
  expect(overdue()).toBe(0)
  now += 5000 // the timer is late
  expect(overdue()).toBe(5000)
  begin()
  loop.wake()
  await turns(3)
  expect(overdue()).toBeUndefined()
  end()
  await turns(3)
  expect(overdue()).toBe(0)
  finish?.()
  await turns(3)
  await loop.stop()
  expect(overdue()).toBeUndefined()
})
