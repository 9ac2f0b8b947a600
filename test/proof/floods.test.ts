import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, test } from 'vitest'
import { type TestGateway, type TestMerchant, testGateway } from '../support/gateway/gateway.ts'
import {
  type Answer,
  checkStatus,
  newInvoice,
  post,
  send,
  sign,
  signedQuestion,
  signedRequest,
} from '../support/merchant/merchant.ts'

let gateway: TestGateway
let shop: TestMerchant

// Behind a proxy the address comes in a header, so that a test can ask from many.
beforeAll(async () => {
  gateway = await testGateway({ TOLLGATE_TRUST_PROXY: '1' })
  shop = await gateway.addMerchant('rate_limit=0')
})
afterAll(() => gateway.stop())

const many = <T>(n: number, ask: () => Promise<T>) => Promise.all(Array.from({ length: n }, ask))

// Asks n times at once. Time gives tokens back, so "exactly the burst" is: the burst, and at most what the
// time that passed is worth.
async function flood(n: number, burst: number, rate: number, ask: () => Promise<Answer>): Promise<Answer[]> {
  const started = performance.now()
  const answers = await many(n, ask)
  const gained = ((performance.now() - started) / 1000) * rate
  const passed = answers.filter(answer => answer.http !== 429)
  assert.ok(passed.length >= burst && passed.length <= burst + gained, `${passed.length} of ${n} passed`)
  for (const { http, body, headers } of answers) {
    if (http !== 429) continue
    assert.equal(body.error.code, 'GW-060')
    assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/)
  }
  return passed
}

const httpOf = (answers: Answer[]) => [...new Set(answers.map(answer => answer.http))]

const initiate = (keys: { merchant_key: string; secret_key: string }) => () =>
  post(gateway.url, signedRequest(keys))

test('a merchant has its burst, then its rate; its other key and other merchants do not notice', async () => {
  const busy = await gateway.addMerchant('rate_limit=1', 'rate_burst=20')
  const [passed, live, others] = await Promise.all([
    flood(60, 20, 1, initiate(busy.test)),
    many(20, initiate(busy.live)),
    many(60, initiate(shop.test)),
  ])
  assert.deepEqual(httpOf([...passed, ...live, ...others]), [200])
  await sleep(1100)
  assert.equal((await initiate(busy.test)()).http, 200) // Retry-After said one second
})

test('a signed status check counts as a request of the merchant', async () => {
  const { test: keys } = await gateway.addMerchant('rate_limit=1', 'rate_burst=20')
  const { invoice_id } = (await initiate(keys)()).body
  await flood(60, 19, 1, () => checkStatus(gateway.url, signedQuestion(keys, invoice_id)))
})

test('with rate_limit=0 a merchant has no limit', async () => {
  const free = await gateway.addMerchant('rate_limit=0', 'rate_burst=1')
  assert.deepEqual(httpOf(await many(200, initiate(free.test))), [200])
})

const from = (address: string, path: string, body?: unknown) =>
  send(gateway.url + path, {
    headers: { 'x-forwarded-for': address, 'content-type': 'application/json' },
    ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
  })
const sendFrom = (address: string, type: string, body: string) =>
  send(`${gateway.url}/v1/mobile_agents_v2`, {
    method: 'POST',
    headers: { 'x-forwarded-for': address, 'content-type': type },
    body,
  })
const initiateFrom = (address: string, request: unknown) => from(address, '/v1/mobile_agents_v2', request)
const checkFrom = (address: string, query: Record<string, string>) =>
  from(address, `/v1/gateway/json_status_chk?${new URLSearchParams(query).toString()}`)

async function signedFrom(address: string) {
  const { merchant_key, secret_key } = shop.live
  const created = await initiateFrom(address, signedRequest(shop.live))
  const { invoice_id } = created.body
  const secure_hash = sign(secret_key, `invoice_id=${invoice_id}&merchant_key=${merchant_key}`)
  return [created, await checkFrom(address, { merchant_key, invoice_id, secure_hash })]
}

const wrong = { secure_hash: 'a'.repeat(64) }
const nobody = { merchant_key: 'lk_nobody', secret_key: 'guess' }
const guess = () => ({ merchant_key: shop.live.merchant_key, invoice_id: 'GUESS-1' })

for (const [what, http, address, miss] of [
  ['unknown merchant', 401, '192.0.2.1', (at: string) => initiateFrom(at, signedRequest(nobody))],
  ['wrong hash', 401, '192.0.2.2', (at: string) => initiateFrom(at, signedRequest(shop.live, wrong))],
  ['unknown invoice', 404, '192.0.2.3', (at: string) => checkFrom(at, guess())],
  ['check of nobody', 404, '2001:db8:1:1::1', (at: string) => checkFrom(at, { ...guess(), ...nobody })],
  ['broken JSON', 400, '192.0.2.4', (at: string) => sendFrom(at, 'application/json', '{"total":')],
  ['broken form', 400, '192.0.2.5', (at: string) => sendFrom(at, 'multipart/form-data; boundary=x', '--x')],
  ['check, wrong hash', 401, '2001:db8:1:2::1', (at: string) => checkFrom(at, { ...guess(), ...wrong })],
] as const) {
  test(`an address has a hundred misses (${what}), and what is signed still passes`, async () => {
    assert.deepEqual(httpOf(await flood(200, 100, 20, () => miss(address))), [http])
    const [, answers] = await Promise.all([
      many(200, () => miss(address)),
      many(20, () => signedFrom(address)),
    ])
    assert.deepEqual(httpOf(answers.flat()), [200])
    assert.equal((await miss('198.51.100.1')).http, http) // another address has its own hundred
  })
}

// The key stands in the shop's pages: everybody has it, and can ask for what the merchant itself would ask.
const strangers: [string, (key: string, invoice_id: string) => [string, Record<string, string>?]][] = [
  [
    'status checks',
    (merchant_key, invoice_id) => [`/v1/gateway/json_status_chk?${words({ merchant_key, invoice_id })}`],
  ],
  [
    'lines of status',
    (merchant_key, invoice_id) => [`/v1/gateway/status_chk?${words({ merchant_key, invoice_id })}`],
  ],
  ['forms', merchant_key => [`/gateway?${words({ merchant_key, invoice_id: newInvoice(), total: '5' })}`]],
  [
    'direct requests',
    merchant_key => [
      '/v1/mobile_agents_v2',
      {
        merchant_key,
        invoice_id: newInvoice(),
        total: '5',
        pymt_instrument: '0241234999',
        extra_wallet_issuer_hint: 'mtn',
      },
    ],
  ],
]
const words = (fields: Record<string, string>) => new URLSearchParams(fields).toString()

for (const [what, ask] of strangers)
  test(`a flood of unsigned ${what} limits only the client that sends it`, async () => {
    const { test: keys } = await gateway.addMerchant('rate_limit=1', 'rate_burst=20', 'unsigned_requests=on')
    const { invoice_id } = (await initiate(keys)()).body
    const askFrom = (address: string) => from(address, ...ask(keys.merchant_key, invoice_id))
    const stranger = await many(60, () => askFrom('203.0.113.7'))
    assert.ok(stranger.some(({ http }) => http === 429))
    assert.notEqual((await askFrom('203.0.113.8')).http, 429)
    const own = await many(15, () => checkFrom('203.0.113.7', signedQuestion(keys, invoice_id)))
    const asked = await many(2, () => initiateFrom('203.0.113.7', signedRequest(keys)))
    assert.deepEqual(httpOf([...own, ...asked]), [200])
  })

test('a signed form that a customer sends again and again takes nothing from the shop', async () => {
  const { test: keys } = await gateway.addMerchant('rate_limit=1', 'rate_burst=20')
  const { generate_checkout_url: _, ...form } = signedRequest(keys)
  const copied = await many(60, () =>
    from('203.0.113.9', `/gateway?${words(form as Record<string, string>)}`),
  )
  assert.ok(copied.some(({ http }) => http === 429))
  assert.deepEqual(httpOf(await many(18, initiate(keys))), [200])
})

test('an address of IPv6 is a whole /64', async () => {
  let host = 0
  await flood(200, 100, 20, () => checkFrom(`2001:db8:1:3::${(++host).toString(16)}`, guess()))
})
