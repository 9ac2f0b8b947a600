import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { rotateIpnSecret } from '../../../src/actions/merchants/credentials.ts'
import type { Db } from '../../../src/store/db.ts'
import { createSignerCache } from '../../../src/workers/deliveries/signerCache.ts'
import { openPost, type Post, until } from './post.ts'

let post: Post
beforeAll(async () => void (post = await openPost(1)))
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())
afterAll(() => post.close())

test('what is half a second old is asked for anew, and ahead of time, so that who sends all the time never waits', async () => {
  const merchant_id = post.ids[0] as string
  let asked = 0
  const count = (ask: (...query: never[]) => unknown) =>
    ((...query: never[]) => (asked++, ask(...query))) as never
  const db: Db = { ...post.db, rows: count(post.db.rows), tuples: count(post.db.tuples) }
  const signers = createSignerCache(db, post.masterKeys, post.clock)
  const first = await signers.find(merchant_id, 'test')
  const once = asked
  vi.advanceTimersByTime(249)
  expect([signers.find(merchant_id, 'test'), asked]).toEqual([first, once])
  await rotateIpnSecret(post.db, post.masterKeys, merchant_id, 'test', 0, post.clock())
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
