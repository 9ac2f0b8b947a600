import { expect, test } from 'vitest'
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
  const loop = startLoop({ restMs: 1e6, step: async () => Promise.resolve(steps++), onTrouble() {}, pause })
  await turns(3)
  await loop.stop()
  expect(steps).toBe(0)
})
