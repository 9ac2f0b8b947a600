import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { ConfigError, type Environment, readConfig, configNames } from '../src/config.ts'

function faultsOf(env: Environment): string[] {
  try {
    readConfig(env)
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    return (error as ConfigError).faults
  }
  return []
}

test('an empty environment is enough', () => {
  expect(readConfig({})).toMatchObject({ PORT: 8080, HOST: '127.0.0.1', LOG_LEVEL: 'info' })
  expect(readConfig({ PORT: '' }).PORT).toBe(8080)
  const large = { TOLLGATE_POOL_SIZE: '200', DATABASE_URL: 'postgres://localhost/x' }
  expect(readConfig(large).TOLLGATE_POOL_SIZE).toBe(200)
})

const withRequire = (DATABASE_URL: string) => readConfig({ DATABASE_URL, PGSSLMODE: 'require' }).DATABASE_URL

test('PGSSLMODE counts for a database URL without a mode of its own', () => {
  expect(withRequire('postgres://db/x')).toBe('postgres://db/x?sslmode=require')
  expect(withRequire('postgres://db/x?sslcert=a')).toBe('postgres://db/x?sslcert=a&sslmode=require')
  expect(withRequire('postgres://db/x?sslmode=disable')).toBe('postgres://db/x?sslmode=disable')
})

for (const [name, value] of [
  ['PORT', 'http'],
  ['PORT', '65536'],
  ['PORT', '-1'],
  ['TOLLGATE_BASE_URL', 'pay.example'],
  ['TOLLGATE_BASE_URL', 'https://pay.example/?a=b'],
  ['TOLLGATE_BASE_URL', 'https://pay.example/path'],
  ['TOLLGATE_BASE_URL', 'https://user@pay.example'],
  ['TOLLGATE_BASE_URL', 'ftp://pay.example'],
  ['DATABASE_URL', 'mysql://localhost/x'],
  ['DATABASE_URL', 'postgres://db/x?sslmode=sometimes'],
  ['DATABASE_URL', 'postgres://db/x?sslrootcert=system&sslmode=require'],
  ['TOLLGATE_DIRECT_DATABASE_URL', 'postgres://localhost/x'],
  ['TOLLGATE_MASTER_KEY', 'not-a-key-0815'],
  ['TOLLGATE_MASTER_KEY', 'ab'],
  ['TOLLGATE_POOL_SIZE', '0'],
  ['TOLLGATE_POOL_SIZE', '51'],
  ['TOLLGATE_BATCH_ROWS', 'many'],
  ['TOLLGATE_TRUST_PROXY', 'yes'],
  ['TOLLGATE_METRICS_TOKEN', 'short'],
  ['TOLLGATE_REDACT_DAYS', '30'],
  ['TOLLGATE_REDACT_DAYS', 'soon'],
  ['LOG_LEVEL', 'loud'],
  ['TOLLGATE_NO_SUCH', 'x'],
] as const) {
  test(`${name}=${value} is a fault that names the setting and does not repeat the value of a secret`, () => {
    const faults = faultsOf({ [name]: value })
    expect(faults).toHaveLength(1)
    expect(faults[0]).toMatch(new RegExp(`^${name}: `))
    if (/KEY|TOKEN/.test(name)) expect(faults[0]).not.toContain(value)
  })
}

test('personal data is stored forever unless TOLLGATE_REDACT_DAYS is set, which has a minimum', () => {
  expect(readConfig({}).TOLLGATE_REDACT_DAYS).toBeUndefined()
  expect(readConfig({ TOLLGATE_REDACT_DAYS: '31' }).TOLLGATE_REDACT_DAYS).toBe(31)
  expect(faultsOf({ TOLLGATE_REDACT_DAYS: '30' })).toEqual([
    'TOLLGATE_REDACT_DAYS: must be 31 or more: until then notifications, the feed and messages need what it removes',
  ])
})

test('TOLLGATE_WORKERS=off is the role web, and no worker node', () => {
  expect(readConfig({}).TOLLGATE_ROLE).toBe('all')
  expect(readConfig({ TOLLGATE_WORKERS: 'off' }).TOLLGATE_ROLE).toBe('web')
  expect(faultsOf({ TOLLGATE_WORKERS: 'off', TOLLGATE_ROLE: 'worker' })).toEqual([
    'TOLLGATE_WORKERS: a worker node has nothing else to do: remove it, or set TOLLGATE_ROLE=web',
  ])
  expect(faultsOf({ TOLLGATE_ROLE: 'worker' })).toHaveLength(2)
})

test('TOLLGATE_PROCESSES: each process has its own pool, and all of them fit into the embedded PostgreSQL', () => {
  const external = { DATABASE_URL: 'postgres://localhost/tollgate' }
  expect(readConfig({}).TOLLGATE_PROCESSES).toBe(1)
  expect(readConfig({ TOLLGATE_PROCESSES: '5' }).TOLLGATE_PROCESSES).toBe(5)
  expect(faultsOf({ TOLLGATE_PROCESSES: '6' })).toEqual([
    'TOLLGATE_PROCESSES: each process has its own TOLLGATE_POOL_SIZE (10), and with the embedded PostgreSQL the pools have at most 50 connections together',
  ])
  expect(faultsOf({ ...external, TOLLGATE_PROCESSES: '6' })).toEqual([])
  for (const wrong of ['0', '65', '-1', '1.5', 'auto'])
    expect(faultsOf({ ...external, TOLLGATE_PROCESSES: wrong }), wrong).toHaveLength(1)
})

test('all faults are reported together', () => {
  expect(faultsOf({ PORT: 'x', LOG_LEVEL: 'y', TOLLGATE_TYPO: 'z', DATABASE_URL: 'w' })).toHaveLength(4)
})

test('docs/settings.md has every setting in its table', async () => {
  const { readFileSync } = await import('node:fs')
  const page = readFileSync('docs/settings.md', 'utf8')
  for (const name of configNames) expect(page).toContain(`\`${name}\``)
})

test('a slash at the end of the base address is dropped', () => {
  expect(readConfig({ TOLLGATE_BASE_URL: 'https://pay.example/' }).TOLLGATE_BASE_URL).toBe(
    'https://pay.example',
  )
})

const folder = mkdtempSync(join(tmpdir(), 'tollgate-config-'))
afterAll(() => rmSync(folder, { recursive: true }))
const fileWith = (text: string) => {
  const file = join(folder, 'value')
  writeFileSync(file, text)
  return file
}

test('NAME_FILE names a file with the value: a secret is not in the environment', () => {
  const url = 'postgres://user:password@db/tollgate'
  expect(readConfig({ DATABASE_URL_FILE: fileWith(`${url}\n`) }).DATABASE_URL).toBe(url)
  const { providerSettings } = readConfig({ PAYSTACK_SECRET_KEY_FILE: fileWith('sk_test_1\n') })
  expect(providerSettings.PAYSTACK_SECRET_KEY).toBe('sk_test_1')
})

test('a file that is missing, empty or beside the setting itself is a fault of its name', () => {
  const missing = join(folder, 'missing')
  expect(faultsOf({ DATABASE_URL_FILE: missing })).toEqual([
    expect.stringMatching(/^DATABASE_URL_FILE: .*no such file/),
  ])
  expect(faultsOf({ DATABASE_URL_FILE: fileWith('\n') })[0]).toMatch(/^DATABASE_URL_FILE: .*is empty/)
  expect(faultsOf({ DATABASE_URL_FILE: missing, DATABASE_URL: 'postgres://a/b' })[0]).toMatch(
    /^DATABASE_URL_FILE: DATABASE_URL is set, too/,
  )
  expect(faultsOf({ SSL_CERT_FILE: missing })).toEqual([]) // of another program
})

const token = (letter: string) => letter.repeat(16)

test('two tokens are the new and the old one; three are none', () => {
  expect(
    readConfig({ TOLLGATE_METRICS_TOKEN: `${token('n')},${token('o')}` }).TOLLGATE_METRICS_TOKEN,
  ).toEqual([token('n'), token('o')])
  expect(faultsOf({ TOLLGATE_METRICS_TOKEN: 'a,b' })).toHaveLength(1)
  expect(faultsOf({ TOLLGATE_METRICS_TOKEN: ['a', 'b', 'c'].map(token).join() })).toHaveLength(1)
})
