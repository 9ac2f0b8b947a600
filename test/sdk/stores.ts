import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { resultOf } from './world.ts'

// The driver of each language makes the same calls.
export function testStores() {
  for (const store of ['memory', 'file', 'sql'])
    test(`the ${store} store claims, releases, completes and expires`, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'tollgate-store-'))
      const expected = ['claimed', 'busy', 'busy', 'claimed', 'claimed', 'busy', 'done', 'claimed']
      expect(await resultOf('store', store, folder)).toEqual(expected)
      rmSync(folder, { recursive: true })
    })
}
