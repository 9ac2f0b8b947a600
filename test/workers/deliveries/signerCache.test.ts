import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { rotateIpnSecret } from '../../../src/actions/merchants/credentials.ts'
import type { Db } from '../../../src/store/db.ts'
import { createSignerCache } from '../../../src/workers/deliveries/signerCache.ts'
import { openDeliveryFixture, type DeliveryFixture, until } from './fixture.ts'

let fixture: DeliveryFixture
beforeAll(async () => void (fixture = await openDeliveryFixture(1)))
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())
afterAll(() => fixture.close())

test('a value is read again after half a second, and before that in advance, so that a busy sender never waits', async () => {
  const merchant_id = fixture.ids[0] as string
  let asked = 0
  const count = (ask: (...query: never[]) => unknown) =>
    ((...query: never[]) => (asked++, ask(...query))) as never
  const db: Db = { ...fixture.db, rows: count(fixture.db.rows), tuples: count(fixture.db.tuples) }
  const signers = createSignerCache(db, fixture.masterKeys, fixture.clock)
  const first = await signers.find(merchant_id, 'test')
  const once = asked
  vi.advanceTimersByTime(249)
  expect([signers.find(merchant_id, 'test'), asked]).toEqual([first, once])
  await rotateIpnSecret(fixture.db, fixture.masterKeys, merchant_id, 'test', 0, fixture.clock())
  vi.advanceTimersByTime(1)
  expect(signers.find(merchant_id, 'test')).toEqual(first) // at once, and asked for behind it
  expect(signers.find(merchant_id, 'test')).toEqual(first)
  await until(() => asked === 2 * once)
  await until(() => {
    const found = signers.find(merchant_id, 'test')
    return !(found instanceof Promise) && found?.keys.toString() !== first?.keys.toString()
  })
  vi.advanceTimersByTime(500)
  const waiting = signers.find(merchant_id, 'test')
  expect(waiting).toBeInstanceOf(Promise)
  await waiting
})
