import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { type TestGateway, testGateway } from '../../support/gateway/gateway.ts'
import { checkStatus, post, send, signedRequest } from '../../support/merchant/merchant.ts'
import { type Env, newMasterKey, tollgate, tollgateJson } from '../tollgate.ts'

let gateway: TestGateway
let env: Env
beforeAll(async () => {
  const settings = { TOLLGATE_MASTER_KEY: newMasterKey() }
  gateway = await testGateway(settings)
  env = { ...settings, DATABASE_URL: gateway.databaseUrl, TOLLGATE_BASE_URL: gateway.url }
})
afterAll(() => gateway.stop())

const addMerchant = async (...settings: string[]) => {
  const { data } = await tollgateJson(env, 'merchant', 'add', '--name', 'Ama Shop')
  if (settings.length > 0) await tollgate(env, 'merchant', 'set', data.merchant_id, ...settings)
  return data
}
const request = (merchant_id: string, ...args: string[]) =>
  tollgateJson(env, 'payment', 'request', '--merchant', merchant_id, ...args)

test('a test payment: stored, signed with the test key, and its page offers the sandbox', async () => {
  const { merchant_id, test: keys } = await addMerchant()
  const { code, data } = await request(merchant_id, '--total', '25', '--description', 'Two straw hats')
  expect(code).toBe(0)
  expect(data).toEqual({
    tx_reference: expect.stringMatching(/^TG-/),
    merchant_id,
    mode: 'test',
    invoice_id: expect.stringMatching(/^CLI-[0-9a-z]{12}$/),
    status: 'awaiting_payment',
    total: '25.00',
    currency: 'GHS',
    payment_methods: expect.arrayContaining(['mtn_mobile_money', 'card']),
    checkout_url: expect.stringMatching(/^http:\S+\/checkout\/[0-9a-z]{42}$/),
  })
  expect((await send(data.checkout_url)).text).toContain('Two straw hats')
  const { merchant_key } = keys
  const { body } = await checkStatus(gateway.url, { merchant_key, invoice_id: data.invoice_id })
  expect(body).toMatchObject({ status: 'awaiting_payment', amount: 25, tx_reference: data.tx_reference })
})

test('a live payment without a live account is stored, and the command reports that no account serves it', async () => {
  const { merchant_id } = await addMerchant()
  const args = ['--merchant', merchant_id, '--total', '1.00', '--mode', 'live']
  const { code, stdout } = await tollgate(env, 'payment', 'request', ...args)
  expect(code).toBe(0)
  expect(stdout).toMatch(/It is live: paying it moves real money\./)
  expect(stdout).toMatch(/^ {2}total +GHS 1\.00$/m)
  expect(stdout).toMatch(/^ {2}checkout +http:\S+\/checkout\/[0-9a-z]{42}$/m)
  expect(stdout).toMatch(/No account of live mode serves this payment/)
})

test('the same request finds the same payment, whether the API or the command sent it first; another one with its id is refused', async () => {
  const { merchant_id, test: keys } = await addMerchant()
  const args = ['--total', '25.00', '--invoice-id', 'AMA-1042']
  const first = await request(merchant_id, ...args)
  expect((await request(merchant_id, ...args)).data).toEqual(first.data)
  const sent = signedRequest(keys, {
    invoice_id: 'AMA-1042',
    total: '25.00',
    description: undefined,
    number: undefined,
    email: undefined,
  })
  expect((await post(gateway.url, sent)).body.checkout_url).toBe(first.data.checkout_url)
  const other = await request(merchant_id, '--total', '26.00', '--invoice-id', 'AMA-1042')
  expect(other).toMatchObject({ code: 1, error: { refusal: { code: 'GW-005', field: 'invoice_id' } } })
})

for (const [words, field, message] of [
  [['--total', '1.005'], 'total', /^The payment was not stored: total: at most 2 decimals/],
  [['--total', '0'], 'total', /total: /],
  [['--total', '5000'], 'total', /total: /], // over the merchant's max_total
  [['--total', '1', '--currency', 'USD'], 'currency', /this merchant takes GHS/],
  [['--total', '1', '--invoice-id', 'a&b'], 'invoice_id', /invoice_id: /],
  [['--total', '1', '--email', 'nobody'], 'email', /email: /],
  [['--total', '1', '--number', '12'], 'number', /number: /],
] as const)
  test(`${words.join(' ')} is refused as at the API, and nothing is stored`, async () => {
    const { merchant_id } = await addMerchant('max_total=1000')
    const { code, data, error } = await request(merchant_id, ...words)
    expect([code, data]).toEqual([1, undefined])
    expect(error).toMatchObject({ code: 'refused', refusal: { field } })
    expect(error.message).toMatch(message)
    const [{ stored }] = (await gateway.db.rows<{ stored: number }>(
      sql`select count(*)::int as stored from payments where merchant_id = ${merchant_id}`,
    )) as [{ stored: number }]
    expect(stored).toBe(0)
  })

test('a deactivated merchant, one without a key of the mode, and an unknown one', async () => {
  const { merchant_id } = await addMerchant()
  await tollgate(env, 'merchant', 'deactivate', merchant_id)
  const off = await request(merchant_id, '--total', '1')
  expect(off).toMatchObject({ code: 1, error: { refusal: { code: 'GW-009' } } })
  await gateway.db.rows(sql`update merchant_keys set expires_at = now() - interval '1 day'
    where merchant_id = ${merchant_id} and mode = 'live'`)
  const noKey = await request(merchant_id, '--total', '1', '--mode', 'live')
  expect(noKey.error.message).toMatch(/has no live key: tollgate key rotate/)
  const nobody = await request('0000000000', '--total', '1')
  expect(nobody).toMatchObject({ code: 1, error: { code: 'not_found' } })
})

test('after a rotation the new key signs, and a secret that does not open is refused', async () => {
  const { merchant_id } = await addMerchant()
  await tollgate(env, 'key', 'rotate', '--merchant', merchant_id, '--overlap', '0')
  expect((await request(merchant_id, '--total', '1')).code).toBe(0)
  await gateway.db.rows(
    sql`update merchant_keys set sealed_secret = ${Buffer.alloc(60)} where merchant_id = ${merchant_id}`,
  )
  expect(await request(merchant_id, '--total', '1')).toMatchObject({
    code: 1,
    error: { refusal: { code: 'GW-050' } },
  })
})

test('no secret is printed', async () => {
  const { merchant_id, test: keys } = await addMerchant()
  const { stdout } = await tollgate(env, 'payment', 'request', '--merchant', merchant_id, '--total', '1')
  for (const hidden of [keys.secret_key, keys.ipn_secret]) expect(stdout).not.toContain(hidden)
})
