import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { watchHealth } from '../../src/store/connections/health.ts'

// The whole process stands still, as when it is stopped or its machine gives it no time: no timer runs, nothing is read.
function standStill(forMs: number) {
  for (const until = performance.now() + forMs; performance.now() < until; );
}

test('who stood still has not been kept waiting by the database', async () => {
  let probes = 0
  const health = watchHealth(async () => ++probes > 0)
  health.begin()
  standStill(2500)
  await sleep(600)
  expect([probes, health.isHanging()]).toEqual([0, false])
  health.stop()
})

test('a probe during which the process was paused is not believed, but repeated', async () => {
  let probes = 0
  let believed: boolean | undefined
  const health = watchHealth(async () => {
    if (++probes > 1) {
      believed = health.isHanging()
      return false
    }
    await sleep(300)
    standStill(1000) // its answer may lie unread
    return true
  })
  health.begin()
  await expect.poll(() => probes, { timeout: 10_000 }).toBe(2)
  expect(believed).toBe(false)
  health.stop()
})

test('silence is believed after a probe', async () => {
  const health = watchHealth(async () => true)
  health.begin()
  await expect.poll(health.isHanging, { timeout: 10_000 }).toBe(true)
  health.end(true)
  expect(health.isHanging()).toBe(false)
  health.stop()
})
