import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrationNames } from '../../src/store/migrate/migrationList.ts'
import { type FreshDatabase, freshDatabase, query } from '../support/database/database.ts'
import { type GatewayProcess, spawnGateway, type TestMerchant } from '../support/gateway/gateway.ts'
import { checkStatus, post, signedRequest } from '../support/merchant/merchant.ts'
import { type Env, newMasterKey, tollgate, tollgateJson } from './tollgate.ts'

// Everything here runs beside a gateway on one database.
let database: FreshDatabase
let gateway: GatewayProcess
let env: Env
let shop: TestMerchant // as `merchant add --json` printed it

beforeAll(async () => {
  database = await freshDatabase()
  env = { DATABASE_URL: database.url, TOLLGATE_MASTER_KEY: newMasterKey() }
})
afterAll(async () => {
  await gateway?.kill('SIGTERM')
  await database.drop()
})

test('migrate applies what is missing, once', async () => {
  const applied = migrationNames()
  expect(await tollgateJson(env, 'migrate')).toMatchObject({ code: 0, data: { applied } })
  expect(await tollgateJson(env, 'migrate')).toMatchObject({ code: 0, data: { applied: [] } })
  const { code, stdout } = await tollgate(env, 'migrate')
  expect([code, stdout]).toEqual([0, 'The database is up to date.\n'])
})

test('a command does not migrate a database of an earlier release, and says what to do', async () => {
  const last = migrationNames().at(-1)
  await query(database.url, `create table kept as select * from migrations where name = '${last}'`)
  await query(database.url, 'delete from migrations where name = $1', [last])
  const { code, stderr } = await tollgate(env, 'payment', 'list')
  expect(code).toBe(1)
  expect(stderr).toMatch(/schema of an earlier release: 1 migration is missing.*tollgate migrate/s)
  const [still] = await query(database.url, 'select count(*)::int as found from migrations where name = $1', [
    last,
  ])
  expect(still.found).toBe(0)
  await query(database.url, 'insert into migrations select * from kept')
  await query(database.url, 'drop table kept')
})

test('an empty list has a sentence with the next step', async () => {
  const [merchants, outlets, payments, json] = await Promise.all([
    tollgate(env, 'merchant', 'list'),
    tollgate(env, 'outlet', 'list'),
    tollgate(env, 'payment', 'list'),
    tollgateJson(env, 'merchant', 'list'),
  ])
  expect(merchants.stdout).toBe('There are no merchants yet: tollgate merchant add --name NAME adds one.\n')
  expect(outlets.stdout).toMatch(/^There are no outlets yet: tollgate outlet add/)
  expect(payments.stdout).toMatch(/^There are no payments yet: tollgate start/)
  expect(json.data).toEqual({ merchants: [] })
})

test('a merchant that is added beside a running gateway can take payments', async () => {
  gateway = await spawnGateway(env)
  const { code, data } = await tollgateJson(env, 'merchant', 'add', '--name', '  Ama Shop ')
  expect(code).toBe(0)
  shop = data
  const keys = {
    merchant_key: expect.any(String),
    secret_key: expect.any(String),
    ipn_secret: expect.any(String),
  }
  expect(shop).toEqual({ merchant_id: expect.any(String), name: 'Ama Shop', test: keys, live: keys })
  expect(shop.test.merchant_key).toMatch(/^tk_/)
  expect(shop.live.merchant_key).toMatch(/^lk_/)
  for (const mode of ['test', 'live'] as const)
    expect((await post(gateway.url, signedRequest(shop[mode]))).http).toBe(200)
})

test('merchant add shows every key once, for people', async () => {
  const { code, stdout, stderr } = await tollgate(env, 'merchant', 'add', '--name', "Kofi's Café")
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^Kofi's Café is registered\.\n\n {2}merchant_id {3}\w{10}\n/)
  expect(stdout.match(/^ {2}secret_key {5}[0-9a-f]{64}$/gm)).toHaveLength(2)
  expect(stdout.match(/^ {2}ipn_secret {5}whsec_/gm)).toHaveLength(2)
  expect(stdout).toContain('shown only now')
  expect(stdout).not.toContain('\x1b') // no colour where there is no terminal
})

test('merchant list has a row for each', async () => {
  const [plain, json] = await Promise.all([
    tollgate(env, 'merchant', 'list'),
    tollgateJson(env, 'merchant', 'list'),
  ])
  const lines = plain.stdout.trim().split('\n')
  expect(lines).toHaveLength(3)
  expect(lines[0]).toMatch(/^ID {11}NAME {10}ACTIVE {3}CREATED$/)
  expect(lines[1]).toMatch(new RegExp(`^${shop.merchant_id}   Ama Shop      yes      \\d{4}-`))
  expect(lines[2]).toMatch(/^\w{10} {3}Kofi's Café {3}yes {6}\d{4}-/)
  expect(json.data.merchants[0]).toEqual({
    merchant_id: shop.merchant_id,
    name: 'Ama Shop',
    active: true,
    created_at: expect.stringMatching(/Z$/),
  })
})

test('a deactivated merchant is refused, until it is activated', async () => {
  const off = await tollgateJson(env, 'merchant', 'deactivate', shop.merchant_id)
  expect(off).toMatchObject({ code: 0, data: { merchant_id: shop.merchant_id, active: false } })
  await expect.poll(async () => (await post(gateway.url, signedRequest(shop.test))).http).toBe(403)
  const on = await tollgate(env, 'merchant', 'activate', shop.merchant_id)
  expect([on.code, on.stdout]).toEqual([
    0,
    'Ama Shop is active: its payments are accepted within a second.\n',
  ])
  await expect.poll(async () => (await post(gateway.url, signedRequest(shop.test))).http).toBe(200)
})

test('merchant set changes what a running gateway does', async () => {
  const set = (...args: string[]) => tollgate(env, 'merchant', 'set', shop.merchant_id, ...args)
  const { code, stdout } = await set('max_total=20', 'expiry_minutes=30')
  expect(code).toBe(0)
  expect(stdout).toMatch(/\n {2}max_total {8}20\.00\n {2}expiry_minutes {3}30\n$/)
  await expect.poll(async () => (await post(gateway.url, signedRequest(shop.test))).http).toBe(400)
  const { data } = await tollgateJson(env, 'merchant', 'set', shop.merchant_id, 'max_total=')
  expect(data.settings).toMatchObject({ max_total: '999999.99', expiry_minutes: '30', ipn_url: null })
  await expect.poll(async () => (await post(gateway.url, signedRequest(shop.test))).http).toBe(200)
})

test('merchant set reports every fault and then changes nothing', async () => {
  const args = [
    'expiry_minutes=45',
    'rate_limit',
    'colour=red',
    'ipn_style=fax',
    'min_total=0',
    'ipn_url=shop',
  ]
  const [plain, json] = await Promise.all([
    tollgate(env, 'merchant', 'set', shop.merchant_id, ...args),
    tollgateJson(env, 'merchant', 'set', shop.merchant_id, ...args),
  ])
  expect([plain.code, plain.stdout, json.code]).toEqual([1, '', 1])
  expect(plain.stderr).toMatch(/^Nothing was changed\.\n/)
  const reported = plain.stderr.split('\n').flatMap(line => /^ {2}(\w+): ./.exec(line)?.[1] ?? [])
  expect(reported.sort()).toEqual(['colour', 'ipn_style', 'ipn_url', 'min_total', 'rate_limit'])
  expect(json.error).toMatchObject({ code: 'refused', faults: expect.any(Array) })
  expect(json.error.faults).toHaveLength(5)
  const { data } = await tollgateJson(env, 'merchant', 'show', shop.merchant_id)
  expect(data.settings.expiry_minutes).toBe('30')
})

test('an outlet is added once, and payments can name it', async () => {
  const args = ['outlet', 'add', '--merchant', shop.merchant_id, '--code', 'ACC-1', '--name', 'Accra Mall']
  const { code, data } = await tollgateJson(env, ...args)
  expect(code).toBe(0)
  expect(data).toMatchObject({ merchant_id: shop.merchant_id, code: 'ACC-1', name: 'Accra Mall' })
  const again = await tollgate(env, ...args)
  expect(again.code).toBe(1)
  expect(again.stderr).toBe('Ama Shop already has an outlet ACC-1: tollgate outlet list shows them.\n')
  const request = signedRequest(shop.test, { invoice_id: 'OUTLET-1', extra_outlet: 'ACC-1', total: '9.50' })
  await expect.poll(async () => (await post(gateway.url, request)).http).toBe(200)
  const [all, one, json] = await Promise.all([
    tollgate(env, 'outlet', 'list'),
    tollgate(env, 'outlet', 'list', '--merchant', shop.merchant_id),
    tollgateJson(env, 'outlet', 'list'),
  ])
  expect(all.stdout).toMatch(/^MERCHANT {5}CODE {4}NAME\n\w{10} {3}ACC-1 {3}Accra Mall\n$/)
  expect(one.stdout).toBe(all.stdout)
  expect(json.data.outlets).toMatchObject([{ code: 'ACC-1', name: 'Accra Mall' }])
})

test('merchant show has settings with their defaults, keys and outlets, and no secret', async () => {
  const [plain, json] = await Promise.all([
    tollgate(env, 'merchant', 'show', shop.merchant_id),
    tollgateJson(env, 'merchant', 'show', shop.merchant_id),
  ])
  expect(plain.stdout).toMatch(/^ {2}expiry_minutes +30$/m)
  expect(plain.stdout).toMatch(/^ {2}retry_after_failure +on \(default\)$/m)
  expect(plain.stdout).toMatch(/^ {2}ipn_url +none \(default\)$/m)
  expect(plain.stdout).toMatch(
    new RegExp(`^  ${shop.live.merchant_key}   live   .* UTC   not yet     no end$`, 'm'),
  )
  expect(plain.stdout).toMatch(/^ {2}ACC-1 {3}Accra Mall$/m)
  expect(json.data).toMatchObject({ name: 'Ama Shop', active: true, outlets: [{ code: 'ACC-1' }] })
  expect(json.data.default_settings).toContain('ipn_url')
  expect(json.data.default_settings).not.toContain('expiry_minutes')
  const everything = plain.stdout + JSON.stringify(json.data)
  for (const keys of [shop.test, shop.live])
    for (const secret of [keys.secret_key, keys.ipn_secret]) expect(everything).not.toContain(secret)
})

test('payment show has the facts, with phone and email masked', async () => {
  const request = signedRequest(shop.test, {
    invoice_id: 'AMA-1042',
    number: '0241234567',
    email: 'ama@shop.example',
    description: 'Two straw hats',
    extra_table: '7',
  })
  const { body } = await post(gateway.url, request)
  const [byInvoice, byReference, json] = await Promise.all([
    tollgate(env, 'payment', 'show', 'AMA-1042'),
    tollgate(env, 'payment', 'show', body.tx_reference.toLowerCase()),
    tollgateJson(env, 'payment', 'show', 'AMA-1042', '--merchant', shop.merchant_id),
  ])
  expect(byInvoice.code).toBe(0)
  expect(byInvoice.stdout).toBe(byReference.stdout)
  for (const [name, value] of [
    ['reference', body.tx_reference],
    ['merchant', `Ama Shop \\(${shop.merchant_id}\\)`],
    ['status', 'awaiting_payment'],
    ['amount', 'GHS 25\\.00'],
    ['for', 'Two straw hats'],
    ['phone', '024 ••• 4567'],
    ['extra_table', '7'],
  ])
    expect(byInvoice.stdout).toMatch(new RegExp(`^  ${name} +${value}$`, 'm'))
  expect(json.data).toMatchObject({
    invoice_id: 'AMA-1042',
    total: '25.00',
    currency: 'GHS',
    number: '024 ••• 4567',
  })
  const everything = byInvoice.stdout + JSON.stringify(json.data)
  for (const hidden of ['241234567', 'shop.example', body.tx_token]) expect(everything).not.toContain(hidden)
})

test('an invoice id of several payments is refused with a list of them', async () => {
  expect((await post(gateway.url, signedRequest(shop.live, { invoice_id: 'AMA-1042' }))).http).toBe(200)
  const [plain, json] = await Promise.all([
    tollgate(env, 'payment', 'show', 'AMA-1042'),
    tollgateJson(env, 'payment', 'show', 'AMA-1042'),
  ])
  expect([plain.code, plain.stdout]).toEqual([1, ''])
  expect(plain.stderr).toMatch(
    /^2 payments have the invoice id AMA-1042: give --merchant, or the reference of one\.\n/,
  )
  expect(plain.stderr.match(/^TG-\S+ {3}AMA-1042 /gm)).toHaveLength(2)
  expect(json).toMatchObject({
    code: 1,
    error: {
      code: 'ambiguous',
      message: expect.stringMatching(/one\.$/),
      payments: [{ mode: 'live' }, { mode: 'test' }],
    },
  })
})

test('payment list has the newest first, and can be narrowed', async () => {
  type Row = { invoice_id: string; mode: string; created_at: string }
  const list = async (...args: string[]): Promise<Row[]> =>
    (await tollgateJson(env, 'payment', 'list', ...args)).data.payments
  const [all, two, live, outlet, paid, plain, none] = await Promise.all([
    list(),
    list('--limit', '2', '--merchant', shop.merchant_id),
    list('--mode', 'live'),
    list('--outlet', 'ACC-1'),
    list('--status', 'paid'),
    tollgate(env, 'payment', 'list', '--outlet', 'ACC-1'),
    tollgate(env, 'payment', 'list', '--status', 'failed'),
  ])
  expect(all[0]).toMatchObject({ invoice_id: 'AMA-1042', mode: 'live' })
  const times = all.map(one => one.created_at)
  expect(times).toEqual(times.toSorted().toReversed())
  expect(two).toEqual(all.slice(0, 2))
  expect(live.every(one => one.mode === 'live')).toBe(true)
  expect(outlet.map(one => one.invoice_id)).toEqual(['OUTLET-1'])
  expect(paid).toEqual([])
  expect(plain.stdout).toMatch(/^REFERENCE .* {5}AMOUNT /)
  expect(plain.stdout).toMatch(/ OUTLET-1 {3}awaiting_payment {3}GHS 9\.50 {3}test /)
  expect(none.stdout).toBe('No payment matches: remove an option to see more.\n')
})

test('a missing object is reported in one sentence, and the exit code is 1', async () => {
  const gone = 'No merchant has the id nobody: tollgate merchant list shows all.'
  for (const args of [
    ['merchant', 'show', 'nobody'],
    ['merchant', 'set', 'nobody', 'rate_limit=1'],
    ['merchant', 'deactivate', 'nobody'],
    ['outlet', 'add', '--merchant', 'nobody', '--code', 'A', '--name', 'A'],
    ['key', 'rotate', '--merchant', 'nobody'],
    ['payment', 'list', '--merchant', 'nobody'],
  ]) {
    const { code, stdout, stderr } = await tollgate(env, ...args)
    expect([code, stdout, stderr]).toEqual([1, '', `${gone}\n`])
  }
  const json = await tollgateJson(env, 'merchant', 'show', 'nobody')
  expect(json).toEqual({ code: 1, data: undefined, error: { code: 'not_found', message: gone } })
  const { code, stderr } = await tollgate(env, 'payment', 'show', 'NOPE')
  expect([code, stderr]).toEqual([1, 'No payment has the reference or invoice id NOPE.\n'])
})

test('status checks are answered while commands run', async () => {
  const { body } = await checkStatus(gateway.url, {
    merchant_key: shop.test.merchant_key,
    invoice_id: 'AMA-1042',
  })
  expect(body.status).toBe('awaiting_payment')
})
