import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { openShop } from '../support/payments/shop.ts'
import { dumpDatabase } from './dump.ts'
import { addRecords, madeAt, masterKey } from './records.ts'

// Random values come from a counter, so that two runs make the same file and a review shows what really changed.
vi.mock('node:crypto', async importOriginal => {
  const crypto = await importOriginal<typeof import('node:crypto')>()
  let drawn = 0
  const randomBytes = (size: number) => {
    const parts: Buffer[] = []
    for (let length = 0; length < size; length += 32)
      parts.push(crypto.createHash('sha256').update(`fixture ${drawn++}`).digest())
    return Buffer.concat(parts).subarray(0, size)
  }
  const randomFillSync = (buffer: Buffer) => {
    buffer.set(randomBytes(buffer.length))
    return buffer
  }
  const randomInt = (min: number, max: number) => min + (randomBytes(4).readUInt32BE() % (max - min))
  return { ...crypto, default: crypto, randomBytes, randomFillSync, randomInt }
})

const git = (...words: string[]) => execFileSync('git', words, { encoding: 'utf8' }).trim()

test('a database of this release is written to test/upgrade/fixtures', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  const shop = await openShop({ key: masterKey, accounts: { test: 'sandbox', live: 'live_bank' } })
  await addRecords(shop)
  const uncommitted = git('status', '--porcelain', '--', 'src', 'package.json')
  const sql = await dumpDatabase(shop.url, {
    version,
    commit: git('rev-parse', 'HEAD') + (uncommitted ? ' with uncommitted changes' : ''),
    made_at: madeAt.toISOString(),
    master_key: masterKey.toString('hex'),
  })
  await shop.stop()
  expect(sql.length).toBeLessThan(200_000)
  writeFileSync(`test/upgrade/fixtures/${version}.sql`, sql)
})
