import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { mtnCredentials, openMtn, type MtnSimulator } from '../../simulators/mtn/mtn.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../../support/gateway/gateway.ts'
import { checkStatus, post, signedRequest } from '../../support/merchant/merchant.ts'
import { type Env, newMasterKey, temporaryFolder, tollgateJson } from '../tollgate.ts'

// The steps of an operator from nothing to a payment, with a simulated provider.
const { subscriptionKey, apiUser, apiKey } = mtnCredentials
const folder = temporaryFolder()
let gateway: TestGateway
let mtn: MtnSimulator
let env: Env
let shop: TestMerchant
let output = ''
beforeAll(async () => {
  mtn = await openMtn()
  const settings = { TOLLGATE_MASTER_KEY: newMasterKey() }
  gateway = await testGateway(settings)
  env = { ...settings, DATABASE_URL: gateway.databaseUrl }
  shop = (await tollgateJson(env, 'merchant', 'add', '--name', 'Ama Shop')).data
})
afterAll(async () => {
  await gateway.stop()
  await mtn.stop()
})

const inFile = (name: string, text: string) => {
  const file = join(folder, name)
  writeFileSync(file, text)
  return `@${file}`
}

async function provider(...args: string[]) {
  const ran = await tollgateJson(env, 'provider', ...args)
  output += JSON.stringify(ran)
  return ran
}
const add = (key: string, url: string, ...more: string[]) =>
  provider(
    'add',
    'mtn',
    `subscription_key=${inFile('subscription', subscriptionKey)}`,
    `api_user=${apiUser}`,
    `api_key=${inFile('key', key)}`,
    `url=${url}`,
    'environment=mtnghana',
    '--mode',
    'live',
    ...more,
  )

// A direct request without a page: the wallet is charged immediately.
const direct = {
  pymt_instrument: '0241234567',
  extra_wallet_issuer_hint: 'mtn',
  generate_checkout_url: undefined,
}
const ask = async () =>
  (await post(gateway.url, signedRequest(shop.live, { ...direct, email: 'a@b.example' }))).body
const keyOf = async (tx_reference: string) =>
  (
    await gateway.db.one<{ idempotency_key: string }>(sql`
    select idempotency_key from attempts where tx_reference = ${tx_reference}`)
  )?.idempotency_key

test('a key that MTN refuses is refused with the reason, and nothing is stored', async () => {
  const { code, error } = await add('wrong-wrong-wrong-wrong', mtn.url)
  expect(code).toBe(1)
  expect(error.message).toMatch(/^Nothing was changed: the settings are wrong: MTN .*Use --no-test/)
  expect((await provider('list')).data.accounts.map((one: { provider: string }) => one.provider)).toEqual([
    'sandbox',
  ])
})

test('an unreachable MTN proves nothing about the settings: the account is stored, and corrected later', async () => {
  const shut = await openMtn()
  await shut.stop()
  const { code, data } = await add(apiKey, shut.url, '--label', 'Head office')
  expect([code, data.check.outcome]).toEqual([0, 'no_answer'])
  const failed = await provider('test', data.account)
  expect([failed.code, failed.error.message]).toEqual([1, expect.stringContaining('could not be asked')])
  const set = await provider('set', data.account, `url=${mtn.url}`)
  expect([set.code, set.data.check.outcome]).toEqual([0, 'good'])
  expect(await provider('test', data.account)).toMatchObject({
    code: 0,
    data: { check: { outcome: 'good' } },
  })
})

test('another environment of MTN is refused: it does not have the orders of the account', async () => {
  const { account } = (await provider('list')).data.accounts[1]
  const { error } = await provider('set', account, 'environment=mtnuganda', 'currency=UGX')
  expect(error.faults[0]).toMatch(/of another account at the provider/)
})

test('a live payment is paid by the account although it is disabled meanwhile', async () => {
  const { account } = (await provider('list')).data.accounts[1]
  let tx_reference = ''
  await expect
    .poll(async () => {
      tx_reference = (await ask()).tx_reference
      return keyOf(tx_reference)
    })
    .toBeDefined()
  // A node that has the old address sends it again after it has read the new one.
  const hasArrived = () =>
    mtn.asked.some(({ method, path }) => method === 'POST' && path.endsWith('/requesttopay'))
  await expect.poll(hasArrived, { timeout: 20_000 }).toBe(true)
  expect((await provider('disable', account)).code).toBe(0)
  await mtn.approve((await keyOf(tx_reference)) ?? '')
  const { invoice_id } = (await gateway.db.one<{ invoice_id: string }>(
    sql`select invoice_id from payments where tx_reference = ${tx_reference}`,
  )) ?? { invoice_id: '' }
  const { merchant_key } = shop.live
  await expect
    .poll(async () => (await checkStatus(gateway.url, { merchant_key, invoice_id })).body.status, {
      timeout: 20_000,
    })
    .toBe('paid')
})

for (const [what, more, isWarned] of [
  ['no base URL', {}, true],
  ['an http base URL', { TOLLGATE_BASE_URL: 'http://pay.example.test' }, true],
  ['an https base URL', { TOLLGATE_BASE_URL: 'https://pay.example.test' }, false],
  ['callbacks off', { MTN_CALLBACKS: 'off' }, false],
  ['the sandbox', { MTN_ENVIRONMENT: 'sandbox' }, false],
] as const)
  test(`doctor, callbacks of a live account, ${what}: ${isWarned ? 'a warning' : 'nothing'}`, async () => {
    const { data } = await tollgateJson(
      {
        ...env,
        MTN_SUBSCRIPTION_KEY: subscriptionKey,
        MTN_API_USER: apiUser,
        MTN_API_KEY: apiKey,
        MTN_ENVIRONMENT: 'mtnghana',
        MTN_CALLBACKS: 'on',
        ...more,
      },
      'doctor',
    )
    const reported = data.checks.filter(({ check }: { check: string }) => check === 'callbacks')
    expect(reported).toMatchObject(
      isWarned ? [{ state: 'warning', fact: expect.stringContaining('mtn') }] : [],
    )
  })

test('another API user leaves open attempts alone until it is confirmed to be the same business', async () => {
  const { account } = (await provider('list')).data.accounts[1]
  expect((await provider('enable', account)).code).toBe(0)
  let tx_reference = ''
  await expect
    .poll(async () => {
      tx_reference = (await ask()).tx_reference
      return keyOf(tx_reference)
    })
    .toBeDefined()
  const key = (await keyOf(tx_reference)) ?? ''
  await expect.poll(() => mtn.charges(key), { timeout: 20_000 }).toBe(1)
  const set = (...more: string[]) => provider('set', account, '--no-test', ...more)
  const other = 'api_user=0c4b6a52-6c1d-4f0e-9a37-2d4c5b6a7f80'
  expect((await set(other)).data).toMatchObject({ business: 'not_said', open_attempts: 1 })
  const [, listed] = (await provider('list')).data.accounts
  expect(listed.waiting).toMatchObject([
    { attempts: 1, why: expect.stringContaining('provider confirm mtn-') },
  ])
  // The first credentials are known, so no question is asked. Then the second again, and confirmed.
  expect((await set(`api_user=${apiUser}`)).data).toMatchObject({ business: null })
  expect((await provider('list')).data.accounts[1].waiting).toEqual([])
  expect((await set(other)).data).toMatchObject({ business: null })
  expect((await provider('confirm', account)).data).toEqual({ account, attempts: 1 })
  expect((await provider('confirm', account)).data).toEqual({ account, attempts: 0 })
  expect((await provider('list')).data.accounts[1].waiting).toEqual([])
  expect((await set(`api_user=${apiUser}`, '--same-business', '--other-business')).code).toBe(2)
  const third = 'api_user=11111111-6c1d-4f0e-9a37-2d4c5b6a7f80'
  expect((await set(third, '--same-business')).data).toMatchObject({ business: 'same', open_attempts: 1 })
  expect((await provider('list')).data.accounts[1].waiting).toEqual([])
  // A new key of the same API user needs no confirmation.
  expect((await set(`api_key=${inFile('key', apiKey)}`)).data).toMatchObject({ business: null })
  await set(`api_user=${apiUser}`)
  await mtn.approve(key)
  const paid = () => gateway.db.one(sql`select status from payments where tx_reference = ${tx_reference}`)
  await expect.poll(paid, { timeout: 20_000 }).toEqual({ status: 'paid' })
})

test('neither credentials nor the wallet number are in the output or the log', () => {
  const all = output + gateway.logs.join('\n')
  for (const secret of [subscriptionKey, apiKey, 'wrong-wrong', '241234567'])
    expect(all).not.toContain(secret)
})
