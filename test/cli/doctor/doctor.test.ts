import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { checkBaseUrl } from '../../../src/cli/doctor/checkAddresses.ts'
import { checkServer } from '../../../src/cli/doctor/checkDatabase.ts'
import { readConfig } from '../../../src/config.ts'
import { withDatabase } from '../../../src/store/backups/scratchDatabase.ts'
import { type FreshDatabase, freshDatabase, query } from '../../support/database/database.ts'
import { spawnGateway } from '../../support/gateway/gateway.ts'
import { type Env, newMasterKey, temporaryFolder, tollgate, tollgateJson } from '../tollgate.ts'

vi.setConfig({ testTimeout: 120_000 }) // it starts whole gateways

let database: FreshDatabase
let env: Env
beforeAll(async () => {
  database = await freshDatabase()
  env = { DATABASE_URL: database.url, TOLLGATE_MASTER_KEY: newMasterKey(), PORT: '0' }
})
afterAll(() => database.drop())

type Check = { check: string; state: string; fact: string; todo?: string }

async function doctor(settings: Env) {
  const { code, data } = await tollgateJson(settings, 'doctor')
  const checks: Check[] = data.checks
  expect(code).toBe(data.ok ? 0 : 1)
  expect(data.ok).toBe(checks.every(check => check.state !== 'failed'))
  return { code, one: (name: string) => checks.find(check => check.check === name), checks }
}

const notFine = (checks: Check[]) => checks.filter(check => check.state !== 'ok').map(check => check.check)

test('without data it reports that, and creates nothing', async () => {
  const dataDir = join(temporaryFolder(), 'data')
  const { code, stdout, stderr } = await tollgate({ TOLLGATE_DATA_DIR: dataDir, PORT: '0' }, 'doctor')
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^✓ ok {7}database {5}no data yet; tollgate start creates it$/m)
  expect(stdout).toMatch(/\n\nAll is well\.\n$/)
  expect(existsSync(dataDir)).toBe(false)
})

test('missing migrations are a warning, and doctor applies none', async () => {
  const { code, one, checks } = await doctor(env)
  expect(code).toBe(0)
  expect(notFine(checks)).toEqual(['migrations'])
  expect(one('migrations')?.todo).toContain('tollgate migrate')
  expect(one('database')?.fact).toMatch(/^PostgreSQL \d+.*, a primary$/)
  expect(await query(database.url, `select to_regclass('migrations') as ledger`)).toEqual([{ ledger: null }])
})

test('every invalid setting has a line', async () => {
  const { code, stdout } = await tollgate({ ...env, PORT: 'x', TOLLGATE_COLOUR: 'red' }, 'doctor')
  expect(code).toBe(1)
  expect(stdout).toMatch(/^✗ failed {3}settings +PORT: must be a whole number$/m)
  expect(stdout).toMatch(/^✗ failed {3}settings +TOLLGATE_COLOUR: there is no such setting/m)
  expect(stdout).toMatch(/cannot run well like this: 2 failed\.\n$/)
})

const wrongEverywhere = {
  PORT: 'x',
  TOLLGATE_EGRESS_PROXY: 'https://proxy:3128',
  TOLLGATE_EGRESS_PORTS: '80,70000',
  TOLLGATE_EGRESS_DNS: '10.0.0.2:99999',
  SMTP_URL: 'http://mail.example',
  SMTP_FROM: 'pay@example.com',
  SMPP_URL: 'smpp://us:secret@127.0.0.1',
  SMPP_FROM: 'a name that is too long',
  SMPP_RATE: 'fast',
  SMS_HTTP_URL: 'ftp://sms.example',
}
const faultsEverywhere = [
  'PORT',
  'SMPP_FROM',
  'SMPP_RATE',
  'SMS_HTTP_URL',
  'SMTP_URL',
  'TOLLGATE_EGRESS_DNS',
  'TOLLGATE_EGRESS_PORTS',
  'TOLLGATE_EGRESS_PROXY',
]
const named = (fault: string) => fault.slice(0, fault.indexOf(':'))

test('settings, messengers and egress: all faults are reported together', async () => {
  const settings = { ...env, ...wrongEverywhere, TOLLGATE_EGRESS_ADDRESS: '203.0.113.7' }
  const { checks, one } = await doctor({
    ...settings,
    DATABASE_URL: withDatabase(database.url, 'nowhere'),
  })
  const faults = checks.filter(({ check, state }) => check === 'settings' && state === 'failed')
  expect(faults.map(({ fact }) => named(fact)).toSorted()).toEqual(faultsEverywhere)
  expect(one('egress')?.fact).toBe('203.0.113.7 is not an address of this machine')
  expect(one('database')?.fact).toContain('"nowhere" does not exist')
  expect(JSON.stringify(checks)).not.toContain('secret@')
})

test('start reports all faults together, too', async () => {
  const { code, error } = await tollgateJson({ ...env, ...wrongEverywhere }, 'start')
  expect(code).toBe(78)
  expect(error.faults.map(named).toSorted()).toEqual(faultsEverywhere)
})

test('an incomplete messenger is a warning', async () => {
  const { checks } = await doctor({ ...env, SMTP_URL: 'smtp://mail.example' })
  expect(checks).toContainEqual(
    expect.objectContaining({
      state: 'warning',
      fact: 'SMTP_URL is set and SMTP_FROM is not: no email is sent.',
    }),
  )
})

test('a newer schema and a read-only database fail', async () => {
  const other = await freshDatabase()
  const their = { ...env, DATABASE_URL: other.url }
  await tollgate(their, 'migrate')
  await query(other.url, `insert into migrations (name) values ('9999_tomorrow.sql')`)
  await query(
    database.url,
    `alter database ${/\/(test_\w+)/.exec(other.url)?.[1]} set default_transaction_read_only = on`,
  )
  const { checks } = await doctor(their)
  expect(checks.filter(({ state }) => state === 'failed').map(({ fact }) => fact)).toEqual([
    'it is read-only',
    'a newer Tollgate has changed the database: 9999_tomorrow.sql',
  ])
  await other.drop()
})

test('DATABASE_URL without a master key fails', async () => {
  const { TOLLGATE_MASTER_KEY: _, ...keyless } = env
  const folder = join(temporaryFolder(), 'data')
  const { one } = await doctor({ ...keyless, TOLLGATE_DATA_DIR: folder })
  expect(one('master key')).toMatchObject({
    state: 'failed',
    todo: expect.stringContaining('openssl rand -hex 32'),
  })
})

test('an unreachable database fails, with what to do', async () => {
  const { code, one } = await doctor({ ...env, DATABASE_URL: 'postgres://127.0.0.1:1/none' })
  expect(code).toBe(1)
  expect(one('database')).toMatchObject({
    state: 'failed',
    fact: expect.stringContaining('check that it is running'),
  })
})

test('a database that does not exist fails, with its name', async () => {
  const url = withDatabase(database.url, 'nowhere')
  expect((await doctor({ ...env, DATABASE_URL: url })).one('database')?.fact).toBe(
    'Database "nowhere" does not exist: create it (createdb), or correct DATABASE_URL.',
  )
})

test('a database that is not durable fails', async () => {
  const name = /\/(test_\w+)/.exec(database.url)?.[1]
  await query(database.url, `alter database ${name} set synchronous_commit = off`)
  const { one } = await doctor(env)
  expect(one('durability')).toMatchObject({ state: 'failed', fact: 'synchronous_commit is off' })
  await query(database.url, `alter database ${name} reset synchronous_commit`)
})

test('secrets of another master key fail', async () => {
  const { data } = await tollgateJson(env, 'merchant', 'add', '--name', 'Ama Shop')
  await tollgate(env, 'merchant', 'set', data.merchant_id, 'allowed_origins=https://shop.example')
  const { code, one, checks } = await doctor({ ...env, TOLLGATE_MASTER_KEY: newMasterKey() })
  expect(code).toBe(1)
  expect(notFine(checks)).toEqual(['secrets'])
  expect(one('secrets')?.todo).toContain('TOLLGATE_MASTER_KEY')
  expect(notFine((await doctor(env)).checks)).toEqual([])
})

test('unreadable settings of a merchant are named with the merchant, and can be set again', async () => {
  const [{ merchant_id }] = (await query(
    database.url,
    `update merchants set settings = '{"rate_limit": "as you like", "ipn_style": "post", "allowed_origins": "https://a.example"}' returning merchant_id`,
  )) as [{ merchant_id: string }]
  const { one, checks } = await doctor(env)
  expect(notFine(checks)).toEqual(['merchants'])
  expect(one('merchants')?.fact).toContain(`${merchant_id} (rate_limit)`)
  const shown = await tollgate(env, 'merchant', 'show', merchant_id)
  expect(shown.stdout).toMatch(/^ {2}rate_limit +cannot be read: "as you like"/m)
  const { data } = await tollgateJson(env, 'merchant', 'show', merchant_id)
  expect([data.unreadable_settings, data.settings.rate_limit]).toEqual([['rate_limit'], '1000'])
  expect((await tollgate(env, 'merchant', 'set', merchant_id, 'rate_limit=5')).code).toBe(0)
  expect(notFine((await doctor(env)).checks)).toEqual([])
})

test('a master key that others can read fails, and a data folder that others can enter is a warning', async () => {
  const dataDir = join(temporaryFolder(), 'data')
  mkdirSync(dataDir)
  chmodSync(dataDir, 0o755)
  writeFileSync(join(dataDir, 'master.key'), `${newMasterKey()}\n`, { mode: 0o644 })
  const { code, one } = await doctor({ TOLLGATE_DATA_DIR: dataDir, PORT: '0' })
  expect(code).toBe(1)
  expect(one('master key')).toMatchObject({ state: 'failed', fact: expect.stringContaining('chmod 600') })
  expect(one('data folder')).toMatchObject({ state: 'warning', todo: `Run: chmod 700 ${dataDir}` })
  expect(readdirSync(dataDir)).toEqual(['master.key'])
})

test('a database folder without a database fails', async () => {
  const dataDir = temporaryFolder()
  mkdirSync(join(dataDir, 'postgres'))
  writeFileSync(join(dataDir, 'postgres', 'notes.txt'), '')
  const { one } = await doctor({ TOLLGATE_DATA_DIR: dataDir, PORT: '0' })
  expect(one('database')).toMatchObject({ state: 'failed', fact: expect.stringContaining('postgres') })
})

test('a data folder that is a file fails', async () => {
  const file = join(temporaryFolder(), 'file')
  writeFileSync(file, '')
  for (const path of [file, join(file, 'below')])
    expect((await doctor({ TOLLGATE_DATA_DIR: path, PORT: '0' })).one('data folder')?.state).toBe('failed')
})

for (const [settings, state] of [
  [{}, 'ok'],
  [{ HOST: '::1' }, 'ok'],
  [{ HOST: '0.0.0.0' }, 'warning'],
  [{ TOLLGATE_BASE_URL: 'http://pay.example' }, 'warning'],
  [{ TOLLGATE_BASE_URL: 'https://pay.example' }, 'ok'],
  [{ TOLLGATE_BASE_URL: 'http://localhost:8080' }, 'ok'],
  [{ TOLLGATE_TRUST_PROXY: '1' }, 'warning'],
] as const)
  test(`base URL with ${JSON.stringify(settings)}: ${state}`, () =>
    expect(checkBaseUrl(readConfig(settings)).state).toBe(state))

const doorsTold = async (settings: Env) => {
  const { one } = await doctor({ ...env, ...settings })
  return [one('support'), one('metrics')].map(check => `${check?.state}: ${check?.fact}`)
}

test('the report names the token of the operator pages', async () => {
  const link = 'tollgate support link opens them in a browser'
  for (const reached of [{}, { TOLLGATE_BASE_URL: 'https://pay.example' }] as Env[])
    expect(await doorsTold(reached)).toEqual([
      `ok: /support and /inbox need this installation's own token; ${link}`,
      "ok: /metrics needs this installation's own token as a bearer token",
    ])
  const tokens = { TOLLGATE_SUPPORT_TOKEN: 'x'.repeat(16), TOLLGATE_METRICS_TOKEN: 'y'.repeat(16) }
  expect(await doorsTold(tokens)).toEqual([
    `ok: /support and /inbox need TOLLGATE_SUPPORT_TOKEN; ${link}`,
    'ok: /metrics needs TOLLGATE_METRICS_TOKEN or TOLLGATE_SUPPORT_TOKEN as a bearer token',
  ])
})

test('loopback notifications are a warning if other machines reach the gateway', async () => {
  const settings = { ...env, TOLLGATE_EGRESS_LOOPBACK: 'on' }
  expect((await doctor(settings)).one('egress')).toBeUndefined()
  expect((await doctor({ ...settings, TOLLGATE_TRUST_PROXY: '1' })).one('egress')).toMatchObject({
    state: 'warning',
    fact: 'merchants may send notifications to addresses of this machine, although the gateway is reachable from others',
  })
})

const server = {
  version: '16.2',
  version_num: 160_002,
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  connections: 97,
  role_connections: -1,
  database_connections: -1,
  in_use: 3,
  now: new Date(),
}

for (const [what, facts, aheadMs, wrong] of [
  ['a good one', {}, 1500, []],
  ['an old one', { version: '14.1', version_num: 140_001 }, 0, ['database failed']],
  ['one that does not write to the disk', { fsync: 'off' }, 0, ['durability failed']],
  ['one with few connections', { connections: 11 }, 0, ['connections failed']],
  ['one whose clock is ahead', {}, 2500, ['clocks warning']],
  ['one whose clock is behind', {}, -2500, ['clocks warning']],
] as const)
  test(`a database server: ${what}`, () => {
    const checks = checkServer({ ...server, ...facts }, aheadMs, readConfig({}))
    expect(
      checks.filter(check => check.state !== 'ok').map(check => `${check.check} ${check.state}`),
    ).toEqual(wrong)
  })

test('beside a running gateway with an embedded PostgreSQL all checks pass, including the port', async () => {
  const dataDir = join(temporaryFolder(), 'data')
  const gateway = await spawnGateway({ TOLLGATE_DATA_DIR: dataDir, PORT: '0' })
  const PORT = new URL(gateway.url).port
  const beside = await doctor({ TOLLGATE_DATA_DIR: dataDir, PORT })
  await gateway.kill('SIGTERM')
  expect(notFine(beside.checks)).toEqual([])
  expect(beside.one('port')?.fact).toBe(`a Tollgate is running on ${PORT}`)

  rmSync(join(dataDir, 'master.key'))
  const alone = await doctor({ TOLLGATE_DATA_DIR: dataDir, PORT })
  expect(notFine(alone.checks)).toEqual(['secrets'])
  expect(existsSync(join(dataDir, 'master.key'))).toBe(false)
  expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false)
})

test('a port that another program uses fails', async () => {
  const other = createServer((_, answer) => void answer.end('ok')).listen(0, '127.0.0.1')
  await once(other, 'listening')
  const address = other.address()
  const PORT = typeof address === 'object' && address ? String(address.port) : ''
  expect((await doctor({ ...env, PORT })).one('port')).toMatchObject({
    state: 'failed',
    fact: expect.stringContaining('already in use'),
  })
  other.close()
})
