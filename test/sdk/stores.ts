import { expect, test } from 'vitest'
import { resultOf } from './world.ts'

// The driver of each language makes the same calls.
export function testStores() {
  for (const store of ['memory', 'file', 'sql'])
    test(`the ${store} store claims, releases, completes and expires`, async () => {
      const expected = ['claimed', 'busy', 'busy', 'claimed', 'claimed', 'busy', 'done', 'claimed']
      expect(await resultOf('store', store)).toEqual(expected)
    })
}
