import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestGateway, type TestMerchant, testGateway } from '../../support/gateway/gateway.ts'
import { asOperator } from '../../support/gateway/operatorAuth.ts'
import { checkStatus, newInvoice, post, send, sign, signedRequest } from '../../support/merchant/merchant.ts'

let gateway: TestGateway
let shop: TestMerchant
let other: TestMerchant

beforeAll(async () => {
  gateway = await testGateway()
  shop = await gateway.addMerchant()
  other = await gateway.addMerchant('errors_as_200=on')
})
afterAll(() => gateway.stop())

const nowSeconds = () => String(Math.floor(Date.now() / 1000))

type Fields = Record<string, string>
type Keys = Pick<TestMerchant['test'], 'merchant_key' | 'secret_key'>

function signed({ merchant_key, secret_key }: Keys, more: Fields = {}): Fields {
  const fields: Fields = { merchant_key, time: nowSeconds(), ...more }
  const text = Object.keys(fields)
    .sort()
    .map(name => `${name}=${fields[name]}`)
    .join('&')
  return { ...fields, secure_hash: sign(secret_key, text) }
}

const ask = (fields: Fields) => send(`${gateway.url}/v1/requests?${new URLSearchParams(fields).toString()}`)
const list = async (keys: Keys, more?: Fields) => (await ask(signed(keys, more))).body
const idsOf = (body: { requests: { request_id: string }[] }) =>
  body.requests.map(({ request_id }) => request_id)
const until = (keys: Keys, count: number) =>
  expect.poll(async () => (await list(keys)).requests.length, { timeout: 5000 }).toBe(count)

test('a merchant reads its own refused requests, newest first, in the mode of the key', async () => {
  const wrong = {
    ...signedRequest(shop.test, { number: '0244123456', email: 'ama@shop.example' }),
    secure_hash: 'ab'.repeat(32),
  }
  const first = await post(gateway.url, wrong)
  const second = await checkStatus(gateway.url, {
    merchant_key: shop.test.merchant_key,
    invoice_id: newInvoice(),
  })
  await post(gateway.url, signedRequest(shop.live, { total: '-1' }))
  await post(gateway.url, signedRequest(other.test, { total: '-1' }))
  expect((await post(gateway.url, signedRequest(shop.test))).http).toBe(200)
  await until(shop.test, 2)
  const { success, requests, next } = await list(shop.test)
  expect([success, next]).toEqual([true, null])
  expect(requests).toMatchObject([
    {
      request_id: second.body.request_id,
      method: 'GET',
      path: '/v1/gateway/json_status_chk',
      http: 404,
      code: 'GW-005',
    },
    {
      request_id: first.body.request_id,
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      method: 'POST',
      path: '/v1/mobile_agents_v2',
      http: 401,
      code: 'GW-010',
      field: 'secure_hash',
      message: 'secure_hash: does not match this request',
      hint: { likely_mistake: expect.any(String) },
      fields: {
        merchant_key: shop.test.merchant_key,
        number: '024 ••• 3456',
        email: 'a••@••',
        secure_hash: 'abababab…',
      },
    },
  ])
  await until(shop.live, 1)
  await until(other.test, 1)
  expect((await list(other.test)).requests[0]).toMatchObject({ http: 400, field: 'total' }) // not 200
})

test('pages follow each other without a gap', async () => {
  const keys = (await gateway.addMerchant()).test
  for (let at = 0; at < 5; at++) await post(gateway.url, signedRequest(keys, { total: '-1' }))
  await until(keys, 5)
  const all = idsOf(await list(keys))
  const seen: string[] = []
  for (let after: string | null = ''; after !== null; ) {
    const page: { requests: { request_id: string }[]; next: string | null } = await list(keys, {
      limit: '2',
      ...(after && { after }),
    })
    seen.push(...idsOf(page))
    after = page.next
  }
  expect(seen).toEqual(all)
})

const without = (fields: Fields, name: string) =>
  Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name))

for (const [what, fields, http, code, field] of [
  ['no merchant_key', () => without(signed(shop.test), 'merchant_key'), 400, 'GW-001', 'merchant_key'],
  ['no time', () => without(signed(shop.test), 'time'), 400, 'GW-012', 'time'],
  ['no hash', () => without(signed(shop.test), 'secure_hash'), 401, 'GW-010', 'secure_hash'],
  ['a changed field', () => ({ ...signed(shop.test), limit: '5' }), 401, 'GW-010', 'secure_hash'],
  [
    'the secret of another',
    () => signed({ ...shop.test, secret_key: other.test.secret_key }),
    401,
    'GW-010',
    'secure_hash',
  ],
  [
    'an old time',
    () => signed(shop.test, { time: String(Number(nowSeconds()) - 400) }),
    401,
    'GW-010',
    'time',
  ],
  [
    'an unknown key',
    () => signed({ ...shop.test, merchant_key: 'tk_nobody' }),
    401,
    'GW-008',
    'merchant_key',
  ],
  ['a limit of 0', () => signed(shop.test, { limit: '0' }), 400, 'GW-012', 'limit'],
  ['a limit of 101', () => signed(shop.test, { limit: '101' }), 400, 'GW-012', 'limit'],
  [
    'the request of another',
    () => signed(shop.test, { after: 'req_0000000000000000' }),
    400,
    'GW-012',
    'after',
  ],
] as [string, () => Fields, number, string, string][])
  test(`${what} is refused`, async () => {
    const answer = await ask(fields())
    expect([answer.http, answer.body.error.code, answer.body.error.field]).toEqual([http, code, field])
  })

test('the metrics count what the log did', async () => {
  const { text } = await send(`${gateway.url}/metrics`, { headers: asOperator })
  expect(text).toMatch(/tollgate_request_log_total\{outcome="stored"\} \d+/)
  expect(text).toMatch(/tollgate_request_log_total\{outcome="no_merchant"\} [1-9]/)
})
