import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { Pool } from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
import { memoryStore, type NotificationStore } from '../../sdk/node/src/index.ts'
import { fileStore } from '../../sdk/node/src/node.ts'
import { freshDatabase } from '../support/database/database.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-store-'))
const closing: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const close of closing) await close()
  rmSync(folder, { recursive: true, force: true })
})

// The store in the README, with its statements, on a real PostgreSQL.
async function readmeStore(): Promise<NotificationStore> {
  const page = readFileSync('sdk/node/README.md', 'utf8')
  const [, table = ''] = /```sql\n(create table.*?)```/s.exec(page) ?? []
  const [, code = ''] = /```js\n([^`]*?function postgresStore.*?)```/s.exec(page) ?? []
  const database = await freshDatabase()
  const pool = new Pool({ connectionString: database.url })
  await pool.query(table)
  closing.push(() => pool.end(), database.drop)
  const file = join(folder, 'postgresStore.mjs')
  writeFileSync(file, `${code}\nexport { postgresStore }`)
  const { postgresStore } = (await import(pathToFileURL(file).href)) as {
    postgresStore(pool: Pool): NotificationStore
  }
  return postgresStore(pool)
}

describe.each([
  ['memory', async () => memoryStore()],
  ['file', async () => fileStore(join(folder, 'claims'))],
  ['PostgreSQL', readmeStore],
])('%s', (_name, make) => {
  test('claims, completes, releases and expires', async () => {
    const store = await make()
    const claim = (key: string, owner: string, leaseMs = 60_000) => store.claim(key, owner, leaseMs)
    expect(await claim('live:a/B #1:paid', 'one')).toBe('claimed')
    expect(await claim('live:a/B #1:paid', 'two')).toBe('busy')
    expect(await claim('live:a/b #1:paid', 'two')).toBe('claimed') // letter case matters
    await store.complete('live:a/B #1:paid', 'one')
    expect(await claim('live:a/B #1:paid', 'two')).toBe('done')
    await store.release('live:a/B #1:paid', 'one')
    expect(await claim('live:a/B #1:paid', 'two')).toBe('done') // completed is for good

    expect(await claim('released', 'one')).toBe('claimed')
    await store.release('released', 'another')
    expect(await claim('released', 'two')).toBe('busy')
    await store.release('released', 'one')
    expect(await claim('released', 'two')).toBe('claimed')

    expect(await claim('expired', 'one', 40)).toBe('claimed')
    await sleep(60)
    expect(await claim('expired', 'two')).toBe('claimed')
    await store.release('expired', 'one') // too late: the claim is another's
    expect(await claim('expired', 'three')).toBe('busy')
    await store.complete('expired', 'one') // too late, but its work is done
    expect(await claim('expired', 'three')).toBe('done')
  })

  test('of many simultaneous claims, one succeeds', async () => {
    const store = await make()
    for (const key of ['first', 'second']) {
      const claims = await Promise.all(
        Array.from({ length: 20 }, (_, at) => store.claim(key, `${at}`, 60_000)),
      )
      expect(claims.filter(claim => claim === 'claimed')).toHaveLength(1)
      expect(claims.filter(claim => claim === 'busy')).toHaveLength(19)
    }
  })
})

test('a file store opened anew, as after a restart, has the same claims', async () => {
  const path = join(folder, 'restart')
  await fileStore(path).claim('done', 'one', 60_000)
  await fileStore(path).complete('done', 'one')
  await fileStore(path).claim('claimed', 'one', 60_000)
  expect(await fileStore(path).claim('done', 'two', 60_000)).toBe('done')
  expect(await fileStore(path).claim('claimed', 'two', 60_000)).toBe('busy')
})

test('a claim that was cut off while it was written is ignored', async () => {
  const path = join(folder, 'draft')
  const store = fileStore(path)
  await store.claim('key', 'one', 1)
  const [claims = ''] = readdirSync(path)
  writeFileSync(join(path, claims, 'draft-1'), '{"key":')
  await sleep(5)
  expect(await store.claim('key', 'two', 60_000)).toBe('claimed')
})
