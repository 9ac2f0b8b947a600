import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type AccountSetup,
  addAccount,
  newIdentity,
  prepareAccount,
} from '../../../src/actions/providers/addAccount.ts'
import { prepareChange, saveAccountChange } from '../../../src/actions/providers/setAccount.ts'
import type { Mode } from '../../../src/core/mode.ts'
import type { SettingChange } from '../../../src/core/provider/accountSettings.ts'
import type { AccountHealth } from '../../../src/core/provider/health.ts'
import {
  loadProviders,
  openProviderAccounts,
  type ProviderAccountsOptions,
} from '../../../src/runtime/providerAccounts.ts'
import { type OpenedAccount, webhookIdOf } from '../../../src/runtime/providers/accounts.ts'
import { createHealthMonitors } from '../../../src/runtime/providers/healthMonitor.ts'
import { givenMasterKeys } from '../../../src/start/masterKeys.ts'
import { type Db, openDb, sql } from '../../../src/store/db.ts'
import { findAccount, type StoredAccount } from '../../../src/store/providers/accounts.ts'
import { exampleProviderFolder, exampleTools } from '../../support/providers/exampleProvider.ts'
import { type FreshDatabase, migratedDatabase } from '../../support/database/database.ts'

const masterKeys = givenMasterKeys([randomBytes(32)])
const folder = exampleProviderFolder()
const now = new Date()
let database: FreshDatabase
let db: Db
let desk: AccountSetup
beforeAll(async () => {
  database = await migratedDatabase()
  db = openDb(database.url, 4)
  desk = { providers: await loadProviders(folder), tools: exampleTools, masterKeys }
})
afterAll(async () => {
  await db.end()
  await database.drop()
})

type Given = { mode?: Mode; merchant_id?: string | null; key?: string; more?: SettingChange[] }

async function add({ mode = 'live', merchant_id = null, key = `${mode}_secret`, more = [] }: Given = {}) {
  const identity = newIdentity({ provider: 'acme', mode, merchant_id })
  const changes: SettingChange[] = [['url', 'http://127.0.0.1:1'], ['key', key], ...more]
  const prepared = prepareAccount(desk, identity, {}, changes)
  if (prepared.faults) throw new Error(prepared.faults.join('; '))
  await addAccount(db, identity, prepared, null, now)
  return identity.account
}

const rowOf = async (account: string) => (await findAccount(db, account)) as StoredAccount
const turn = async (account: string, disabled_at: Date | null) =>
  saveAccountChange(db, await rowOf(account), { disabled_at }, new Date())

async function set(account: string, ...changes: SettingChange[]) {
  const prepared = prepareChange(desk, await rowOf(account), changes)
  if (prepared.faults) return prepared.faults
  return saveAccountChange(db, await rowOf(account), prepared.sealed, new Date())
}

async function node(options: Partial<ProviderAccountsOptions> = {}) {
  const faults: OpenedAccount[] = []
  const stored = { db, masterKeys }
  const onFault = (account: OpenedAccount) => void faults.push(account)
  const providerAccounts = await openProviderAccounts({
    env: {},
    tools: exampleTools,
    folder,
    stored,
    onFault,
    ...options,
  })
  return Object.assign(providerAccounts, { faults })
}

const aPayment = (merchant_id = 'ama', mode: Mode = 'live', total = 2500n) =>
  ({ merchant_id, mode, currency: 'GHS', total }) as const
type Node = Awaited<ReturnType<typeof node>>
const serves = (providerAccounts: Node, payment = aPayment()) =>
  providerAccounts
    .availableMethods(payment)
    .map(({ provider_account: provider, payment_method }) => `${payment_method} by ${provider}`)

test('two nodes refresh accounts that are added, disabled and enabled', async () => {
  await db.rows(sql`delete from provider_accounts`)
  const nodes = [await node(), await node()]
  expect(nodes.map(one => serves(one))).toEqual([[], []])
  const account = await add()
  expect(account).toMatch(/^acme-[0-9a-hjkmnp-tv-z]{6}$/)
  for (const one of nodes) {
    await one.refresh()
    expect(serves(one)).toEqual([`mtn_mobile_money by ${account}`, `card by ${account}`])
    expect(one.findByWebhookId(webhookIdOf(account))?.name).toBe(account)
  }
  await turn(account, now)
  for (const one of nodes) {
    await one.refresh()
    expect([serves(one), one.names, one.find(account) !== undefined]).toEqual([[], [account], true])
    expect(one.findByWebhookId(webhookIdOf(account))?.name).toBe(account)
  }
  await turn(account, null)
  await nodes[0]?.refresh()
  expect(serves(nodes[0] as Node)).toHaveLength(2)
})

test('an account with new credentials is opened again under its name; an unchanged one stays open', async () => {
  const account = await add({ key: 'live_first' })
  const one = await node()
  const line = one.find(account)
  await saveAccountChange(db, await rowOf(account), { label: 'ours' }, new Date())
  await one.refresh()
  expect(one.find(account)).toBe(line)
  expect(await set(account, ['key', 'live_second'])).toBe('saved')
  await one.refresh()
  expect(one.find(account)).not.toBe(line)
  expect(one.find(account)?.account).toBe(line?.account)
})

test('settings of another account at the provider are refused: that account does not have the orders', async () => {
  const account = await add()
  expect(await set(account, ['shop', '4712'])).toEqual([
    expect.stringMatching(/another account at the provider \(acme 4712 instead of acme 4711\)/),
  ])
})

test('a live key in an account declared for tests is refused, and vice versa', async () => {
  await expect(add({ mode: 'test', key: 'live_secret' })).rejects.toThrow(
    'It is declared as a test account, but these are settings of a live account.',
  )
  await expect(add({ mode: 'live', key: 'test_secret' })).rejects.toThrow(/settings of a test account/)
  expect(await set(await add({ mode: 'test' }), ['key', 'live_secret'])).toEqual([
    expect.stringMatching(/declared as a test account/),
  ])
})

test('an account that its provider opens in the other mode is not offered', async () => {
  await db.rows(sql`delete from provider_accounts`)
  const turned = exampleProviderFolder({})
  const account = await add({ mode: 'test' })
  const file = new URL('acme.js', turned)
  writeFileSync(file, readFileSync(file, 'utf8').replace('mode: key.slice(0, 4)', "mode: 'live'"))
  const one = await node({ folder: turned })
  expect([serves(one, aPayment('ama', 'test')), serves(one, aPayment('ama', 'live'))]).toEqual([[], []])
  expect(one.faults.map(({ account: name, fault }) => [name, fault])).toEqual([
    [account, 'It is declared as a test account, but these are settings of a live account.'],
  ])
})

test('an account that cannot be opened is reported once, affects no other account, and is opened after a correction', async () => {
  await db.rows(sql`delete from provider_accounts`)
  const [good, bad] = [await add(), await add({ merchant_id: 'kofi' })]
  const row = await rowOf(bad)
  const one = await node()
  expect(one.faults).toEqual([])
  await saveAccountChange(db, row, { settings: { url: 'http://evil.example' } }, new Date())
  for (let looks = 0; looks < 3; looks++) await one.refresh()
  expect(one.faults.map(({ account }) => account)).toEqual([bad])
  expect(serves(one)).toHaveLength(2)
  expect(serves(one, aPayment('kofi'))).toEqual([]) // its money goes to nobody else
  expect(one.find(bad)).toBeDefined() // what it was opened with asks on

  const fresh = await node()
  expect([fresh.find(bad), fresh.find(good) !== undefined]).toEqual([undefined, true])
  expect(serves(fresh, aPayment('kofi'))).toEqual([])
  await saveAccountChange(db, await rowOf(bad), { settings: row.settings }, new Date())
  await fresh.refresh()
  expect(serves(fresh, aPayment('kofi'))).toEqual([`mtn_mobile_money by ${bad}`, `card by ${bad}`])
})

test('an account without its master key or its provider has a fault, and the other accounts work', async () => {
  await db.rows(sql`delete from provider_accounts`)
  const account = await add()
  const env = { ACME_URL: 'http://127.0.0.1:1', ACME_KEY: 'live_of the environment' }
  const other = await node({ env, stored: { db, masterKeys: givenMasterKeys([randomBytes(32)]) } })
  expect(other.faults[0]?.fault).toMatch(/sealed with master key \w+, which this Tollgate does not have/)
  expect(serves(other)).toEqual(['mtn_mobile_money by acme', 'card by acme'])
  await db.rows(sql`update provider_accounts set provider = 'former' where account = ${account}`)
  expect((await node()).faults[0]?.fault).toMatch(/do not open/)
})

test('equal results are the same array, also for merchants with other preferences', async () => {
  await db.rows(sql`delete from provider_accounts`)
  await add()
  const standings = new Map<string, AccountHealth>()
  const monitors = {
    of: (_account: string, way: string) => standings.get(way) ?? ('healthy' as const),
    account: createHealthMonitors().account,
  }
  const one = await node({ monitors })
  const methods = one.availableMethods(aPayment())
  expect(one.availableMethods(aPayment('kofi'))).toBe(methods)
  expect(
    one.availableMethods({ ...aPayment(), settings: { providers: ['acme'], payment_methods: [] } }),
  ).toBe(methods)
  expect(
    one.availableMethods(aPayment('ama', 'live', 200_000n)).map(method => method.payment_method),
  ).toEqual(['card'])
  standings.set('mtn_mobile_money', 'degraded')
  expect(one.availableMethods(aPayment()).map(method => [method.payment_method, method.health])).toEqual([
    ['card', 'healthy'],
    ['mtn_mobile_money', 'degraded'],
  ])
  standings.clear()
  expect(one.availableMethods(aPayment())).toBe(methods)
  await add()
  await one.refresh()
  expect(one.availableMethods(aPayment())).not.toBe(methods)
})

test('a merchant’s choice of methods and accounts is applied', async () => {
  await db.rows(sql`delete from provider_accounts`)
  const [ours, others] = [await add({ merchant_id: 'ama' }), await add()]
  const one = await node()
  const choosing = (providers: string[], payment_methods: string[] = []) => ({
    ...aPayment(),
    settings: { providers, payment_methods },
  })
  expect(serves(one)).toEqual([`mtn_mobile_money by ${ours}`, `card by ${ours}`])
  expect(serves(one, choosing([], ['card']))).toEqual([`card by ${ours}`])
  expect(serves(one, choosing([others, ours]))).toEqual([
    `mtn_mobile_money by ${others}`,
    `card by ${others}`,
  ])
  expect(serves(one, aPayment('kofi'))).toEqual([`mtn_mobile_money by ${others}`, `card by ${others}`])
})

test('egress settings are those of the account, or else the default', async () => {
  const tools = { ...exampleTools, egress: { address: '192.0.2.1', proxy: 'http://proxy:3128' } }
  const own = await add({ more: [['egress_address', '192.0.2.7']] })
  const usual = await add()
  const one = await node({ tools })
  const openedOf = (name: string) => one.accounts().find(({ account }) => account === name)?.opened as unknown
  expect(openedOf(own)).toMatchObject({ egress: { address: '192.0.2.7', proxy: 'http://proxy:3128' } })
  expect(openedOf(usual)).toMatchObject({ egress: tools.egress })
  await expect(add({ more: [['egress_address', 'here']] })).rejects.toThrow(
    'egress_address: must be an IP address',
  )
  await expect(add({ more: [['egress_proxy', 'https://u:geheim@p:1']] })).rejects.toThrow(
    /^egress_proxy: must be a URL such as http:\/\/proxy:3128$/,
  )
})

test('a fault contains no secret, even if the provider’s error does', async () => {
  const adding = add({ key: 'prod_4f9c-very-secret' })
  await expect(adding).rejects.toThrow('key: must begin with test_ or live_, and is …')
})

test('accounts that a restored backup does not have are removed', async () => {
  const one = await node()
  const account = await add()
  await one.refresh()
  expect(one.find(account)).toBeDefined()
  await db.rows(sql`delete from provider_accounts where account = ${account}`)
  await one.refresh()
  expect(one.find(account)).toBeUndefined()
})

test('a database that does not answer only fails the refresh', async () => {
  const own = openDb(database.url, 1)
  const one = await node({ stored: { db: own, masterKeys } })
  const before = serves(one)
  await own.end()
  await expect(one.refresh()).rejects.toThrow()
  expect(serves(one)).toEqual(before)
})
