import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { initiate } from '../../src/actions/interface/initiate.ts'
import { onboard } from '../../src/actions/merchants/onboard.ts'
import { setMerchant } from '../../src/actions/merchants/setMerchant.ts'
import { pollAttempt } from '../../src/actions/payments/callProvider.ts'
import { openCheckout } from '../../src/actions/payments/openCheckout.ts'
import { pay } from '../../src/actions/payments/pay.ts'
import {
  type AccountSetup,
  addAccount,
  newIdentity,
  prepareAccount,
} from '../../src/actions/providers/addAccount.ts'
import { prepareChange, saveAccountChange } from '../../src/actions/providers/setAccount.ts'
import type { Mode } from '../../src/core/mode.ts'
import type { Attempt } from '../../src/core/payment/attempt.ts'
import type { SettingChange } from '../../src/core/provider/accountSettings.ts'
import {
  loadProviders,
  type OpenProviderAccounts,
  openProviderAccounts,
} from '../../src/runtime/providerAccounts.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'
import { givenMasterKeys } from '../../src/start/masterKeys.ts'
import { type Db, openDb, sql } from '../../src/store/db.ts'
import { attemptsOf } from '../../src/store/payments/attempts.ts'
import { findPayment } from '../../src/store/payments/paymentLife.ts'
import { findAccount, type StoredAccount } from '../../src/store/providers/accounts.ts'
import {
  type ExampleProvider,
  exampleProviderFolder,
  exampleTools,
  openExampleProvider,
} from '../support/providers/exampleProvider.ts'
import { type FreshDatabase, migratedDatabase } from '../support/database/database.ts'
import type { TestMerchant } from '../support/gateway/gateway.ts'
import { aPayRequest } from '../support/payments/simulatedNode.ts'
import { signedRequest } from '../support/merchant/merchant.ts'
import { testRuntime } from '../support/gateway/runtime.ts'

// Whole payments by accounts that change under them, at a provider that speaks over a socket.
const masterKeys = givenMasterKeys([randomBytes(32)])
const folder = exampleProviderFolder()
let database: FreshDatabase
let db: Db
let desk: AccountSetup
let acme: ExampleProvider
let providerAccounts: OpenProviderAccounts
let runtime: Runtime
beforeAll(async () => {
  database = await migratedDatabase()
  db = openDb(database.url, 4)
  acme = await openExampleProvider('live_first', 'test_first')
  desk = { providers: await loadProviders(folder), tools: exampleTools, masterKeys }
  providerAccounts = await openProviderAccounts({
    env: {},
    tools: exampleTools,
    folder,
    stored: { db, masterKeys },
  })
  runtime = testRuntime({ db, masterKeys, providerAccounts })
})
afterAll(async () => {
  await acme.close()
  await db.end()
  await database.drop()
})

async function add(key: string, mode: Mode = 'live', merchant_id: string | null = null) {
  const identity = newIdentity({ provider: 'acme', mode, merchant_id })
  const changes: SettingChange[] = [
    ['url', acme.url],
    ['key', key],
  ]
  const prepared = prepareAccount(desk, identity, {}, changes)
  if (prepared.faults) throw new Error(prepared.faults.join('; '))
  await addAccount(db, identity, prepared, null, new Date())
  await providerAccounts.refresh()
  return identity.account
}
const rowOf = async (account: string) => (await findAccount(db, account)) as StoredAccount
async function disable(account: string) {
  await saveAccountChange(db, await rowOf(account), { disabled_at: new Date() }, new Date())
  await providerAccounts.refresh()
}

async function addMerchant(...settings: string[]) {
  const merchant = (await onboard(db, masterKeys, 'Ama Shop', ['test', 'live'], new Date())) as TestMerchant
  expect((await setMerchant(db, merchant.merchant_id, settings))?.faults).toEqual([])
  return merchant
}

async function ask(merchant: TestMerchant, mode: Mode = 'live', fields: Record<string, unknown> = {}) {
  const { stored } = await initiate(runtime, signedRequest(merchant[mode], fields), 'api', '127.0.0.1')
  const checkout = await openCheckout(runtime, (await findPayment(db, stored))?.tx_token ?? '')
  if (!checkout) throw new Error('there is no page')
  return checkout
}
const waysOf = ({ methods: offers }: Awaited<ReturnType<typeof ask>>) =>
  offers.map(({ payment_method, provider_account: provider }) => `${payment_method} by ${provider}`)

type Key = { merchant_id: string; tx_reference: string }
const lastAttempt = async ({ merchant_id, tx_reference }: Key) =>
  (await attemptsOf(db, merchant_id, tx_reference)).at(-1) as Attempt
const statusOf = async (key: Key) => (await findPayment(db, key))?.status

test('an attempt is polled at its account, with new credentials, also while that account is disabled', async () => {
  acme.says(() => ({ state: 'pending' }))
  const account = await add('live_first')
  const payment = await ask(await addMerchant())
  expect(await pay(runtime, payment, aPayRequest())).toEqual({ done: 'started' })
  const attempt = await lastAttempt(payment)
  expect([attempt.provider_account, attempt.state]).toEqual([account, 'pending'])

  // The operator changes the key at the provider: the old one is not taken any more.
  acme.known.delete('live_first')
  acme.known.add('live_second')
  await pollAttempt(runtime, attempt)
  expect((await lastAttempt(payment)).state).not.toBe('failed')
  const prepared = prepareChange(desk, await rowOf(account), [['key', 'live_second']])
  if (prepared.faults) throw new Error(prepared.faults.join())
  const row = await rowOf(account)
  await saveAccountChange(db, row, prepared.sealed, new Date(), { ...prepared, isSameBusiness: true })
  await disable(account)

  const other = await ask(await addMerchant())
  expect(waysOf(other)).toEqual([])
  expect(await pay(runtime, other, aPayRequest())).toEqual({ done: 'no_such_method' })

  acme.says(order => ({
    state: 'paid',
    order,
    amount: String(payment.total),
    currency: 'GHS',
    provider_ref: 'A1',
  }))
  await pollAttempt(runtime, await lastAttempt(payment))
  expect(await statusOf(payment)).toBe('paid')
  expect(acme.asked.at(-1)).toEqual({ path: `/check/${attempt.attempt_id}`, key: 'live_second' })
})

test('an account that is added later is not polled for the attempt of another', async () => {
  await db.rows(sql`update provider_accounts set disabled_at = now(), version = version + 100`)
  acme.says(() => ({ state: 'pending' }))
  acme.known.add('live_first').add('live_own')
  const merchant = await addMerchant()
  const account = await add('live_first')
  const payment = await ask(merchant)
  await pay(runtime, payment, aPayRequest())
  const own = await add('live_own', 'live', merchant.merchant_id)
  expect(waysOf(await ask(merchant))).toEqual([`mtn_mobile_money by ${own}`, `card by ${own}`])
  await pollAttempt(runtime, await lastAttempt(payment))
  expect(acme.asked.at(-1)?.key).toBe('live_first')
  expect((await lastAttempt(payment)).provider_account).toBe(account)
  await disable(own)
  await disable(account)
})

test('test payments reach a test account alone, live ones a live one', async () => {
  acme.says(() => ({ state: 'pending' }))
  acme.known.add('test_first').add('live_first')
  const merchant = await addMerchant()
  const onlyTest = await add('test_first', 'test')
  const live = await ask(merchant, 'live')
  expect(waysOf(live)).toEqual([])
  expect(await pay(runtime, live, aPayRequest())).toEqual({ done: 'no_such_method' })
  const onlyLive = await add('live_first')
  const [played, real] = [await ask(merchant, 'test'), await ask(merchant, 'live')]
  for (const [payment, account, key] of [
    [played, onlyTest, 'test_first'],
    [real, onlyLive, 'live_first'],
  ] as const) {
    expect(await pay(runtime, payment, aPayRequest())).toEqual({ done: 'started' })
    expect((await lastAttempt(payment)).provider_account).toBe(account)
    expect(acme.asked.at(-1)?.key).toBe(key)
  }
})

test('a way that the merchant has switched off is off at the page, at a form that was sent and at a direct request', async () => {
  acme.says(() => ({ state: 'pending' }))
  const merchant = await addMerchant('payment_methods=card')
  const payment = await ask(merchant)
  expect(payment.methods.map(({ payment_method }) => payment_method)).toEqual(['card'])
  expect(await pay(runtime, payment, aPayRequest())).toEqual({ done: 'no_such_method' })
  const direct = {
    pymt_instrument: '0241234567',
    extra_wallet_issuer_hint: 'mtn',
    generate_checkout_url: undefined,
  }
  const charged = await ask(merchant, 'live', direct)
  expect(await lastAttempt(charged)).toBeUndefined()
  await setMerchant(db, merchant.merchant_id, ['payment_methods='])
  await expect.poll(async () => lastAttempt(await ask(merchant, 'live', direct))).toBeDefined()
})

test('an amount that the provider cannot carry is not offered that way', async () => {
  const merchant = await addMerchant()
  const waysAt = async (total: string) => (await ask(merchant, 'live', { total })).methods.length
  expect([await waysAt('1000.00'), await waysAt('1000.01')]).toEqual([2, 1])
})
