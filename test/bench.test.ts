import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { migratedDatabase, query } from './support/database/database.ts'

// The bench runs seldom and loads modules of src/ by name, so this test finds those that were moved or renamed.
const files = readdirSync('bench', { recursive: true, encoding: 'utf8' }).filter(
  file => file.endsWith('.js') && !file.includes('node_modules'),
)
const loads = files.flatMap(file => loadsIn(file, readFileSync(join('bench', file), 'utf8')))

// const [{ a, b }, { c }] = await version.load('x', 'y')
function loadsIn(file: string, text: string) {
  const calls = text.matchAll(/const \[([^\]]*)\]\s*=\s*await [^;=]*?\.load\(([^)]*)\)/g)
  return [...calls].flatMap(([, wanted = '', named = '']) => {
    const names = [...named.matchAll(/'([^']+)'/g)].map(found => found[1] as string)
    const exports = [...wanted.matchAll(/\{([^}]*)\}/g)].map(found =>
      (found[1] as string).split(',').map(word => word.trim()),
    )
    return names.map((name, at) => ({ file, name, exports: exports[at] ?? [] }))
  })
}

test('the bench loads something', () => {
  expect(loads.length).toBeGreaterThan(20)
})

test.each(loads)('$file finds $name', async ({ name, exports }) => {
  const module = await import(join(process.cwd(), `src/${name}.ts`))
  expect(Object.keys(module)).toEqual(expect.arrayContaining(exports))
})

test('pgbench logs in as the address of the database says', async () => {
  const { loginOf } = await import(join(process.cwd(), 'bench/rivals/pgbench.js'))
  const url = 'postgres://who:a%2Fsecret@/versus?host=/tmp/socket&port=5433'
  expect(loginOf(url)).toEqual({
    flags: ['-h', '/tmp/socket', '-p', '5433', '-U', 'who'],
    name: 'versus',
    env: { PGPASSWORD: 'a/secret', PGSSLMODE: 'disable' },
  })
})

test('a round is counted when the last acknowledgement is written down', async () => {
  const { countSettled, mustBeOnce } = await import(join(process.cwd(), 'bench/rows/settled.js'))
  const database = await migratedDatabase()
  await query(
    database.url,
    `insert into deliveries (merchant_id, tx_reference, sequence, mode, url, lane, style, alone, created_at, begun_at,
      next_try_at, tries) select 'm', 'r' || n, 1, 'test', 'u', 'l', 'post', true, now(), now(), now(), n
      from generate_series(1, 2) n`,
  )
  const counting = countSettled(database, ['acknowledged'], 2)
  await query(
    database.url,
    'update deliveries set acknowledged_at = now(), next_try_at = null where tries = 1',
  )
  const now = await query(database.url, 'select count(*)::int from deliveries where acknowledged_at is null')
  expect(now).toEqual([{ count: 1 }])
  const once = (counted: object) =>
    mustBeOnce(database, 'begun', 2, { counted, once: ['acknowledged'], never: [] })
  await expect(once({ acknowledged: 1 })).rejects.toThrow(
    /^2 payments were begun, and .* counted were {"acknowledged":1}\. Not acknowledged are such as \[{"tries":2,/,
  )
  await query(database.url, 'update deliveries set acknowledged_at = now(), next_try_at = null')
  const counted = await counting
  expect(counted).toEqual({ acknowledged: 2, again: 1 })
  await once(counted)
  const strict = { counted, once: ['acknowledged'], never: ['again'] }
  await expect(mustBeOnce(database, 'begun', 2, strict)).rejects.toThrow('"again":1')
  await database.drop()
})
