import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestGateway, type TestMerchant, testGateway } from '../support/gateway/gateway.ts'
import { newInvoice, post, send, sign, signedRequest } from '../support/merchant/merchant.ts'

const password = 'a password of sixteen'

let gateway: TestGateway
let shop: TestMerchant
let checkout: string // its path
let charge: string
beforeAll(async () => {
  gateway = await testGateway({ TOLLGATE_TRUST_PROXY: '1', TOLLGATE_SUPPORT_TOKEN: password })
  shop = await gateway.addMerchant('unsigned_requests=on', 'rate_limit=0')
  const { body } = await post(gateway.url, signedRequest(shop.test))
  checkout = new URL(body.checkout_url).pathname
  charge = `${shop.merchant_id}${'z'.repeat(26)}`
})
afterAll(() => gateway.stop())

const odd = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(
    '\0',
    '\ud800',
    '__proto__',
    'constructor',
    "' or 1=1 --",
    '{}',
    '[]',
    '\r\nx: y',
    '%00',
    '-271821-04-20T00:00:00.000Z~a~b',
    '9'.repeat(400),
    '1e400',
    '-0',
    'NaN',
    '\u202e',
    '../..',
    'a'.repeat(3000),
    '+275760-09-13T00:00:00Z~a~b',
    '0240000000',
    'card',
    'mtn_mobile_money',
    'true',
    'https://shop.example',
    'a@b.example',
    '2026-01-01',
  ),
)
const json = fc.oneof(
  odd,
  fc.double({ noNaN: true }),
  fc.boolean(),
  fc.constant(null),
  fc.array(odd, { maxLength: 2 }),
  fc.dictionary(odd, odd, { maxKeys: 2 }),
)

const names =
  'merchant_key invoice_id total currency secure_hash success_url ipn_url number email name description extra_outlet ' +
  'extra_x generate_checkout_url pymt_instrument voucher_code extra_wallet_issuer_hint after limit q before merchant ' +
  'lang visit back again payment_method mtn_mobile_money.phone decision cvv expiry code cancel_url __proto__'
const fieldsOf = (value: fc.Arbitrary<unknown>) =>
  fc.dictionary(fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...names.split(' ')) }, odd), value, {
    maxKeys: 8,
  })

// Half of the time with what opens the door, so that the strange words come further in.
function opened(fields: Record<string, unknown>, isSigned: boolean): Record<string, unknown> {
  if (!isSigned) return fields
  const { merchant_key, secret_key } = shop.test
  const invoice_id = newInvoice()
  const secure_hash = sign(secret_key, `invoice_id=${invoice_id}&merchant_key=${merchant_key}&total=5.00`)
  return { ...fields, merchant_key, invoice_id, total: '5.00', secure_hash, generate_checkout_url: true }
}

const wellFormed = (value: unknown) => String(value).toWellFormed()
const queryOf = (fields: Record<string, unknown>) =>
  new URLSearchParams(
    Object.entries(fields).map(([name, value]): [string, string] => [wellFormed(name), wellFormed(value)]),
  ).toString()

const doors = () => [
  '/v1/mobile_agents_v2',
  '/gateway',
  '/gateway/checkout',
  '/v1/gateway/json_status_chk',
  '/v1/events',
  '/gateway/json_status_chk',
  '/v1/gateway/status_chk',
  '/support',
  '/inbox',
  '/metrics',
  '/readyz',
  '/docs',
  checkout,
  `${checkout}/pay`,
  `${checkout}/cancel`,
  `${checkout}/state`,
  `${checkout}/receipt`,
  `/callbacks/${charge}`,
  '/sandbox/phone',
  `/sandbox/phone/${charge}`,
  `/sandbox/card/${charge}`,
  '/sandbox/provider/charges',
  `/sandbox/provider/charges/${charge}`,
  '/inbox/a/b/html',
  '/nothing',
]

// Each from another address, so that none is slowed; and as somebody whom the operator lets in.
let asked = 0
const somebody = () => ({
  'x-forwarded-for': `10.${(++asked >> 16) & 255}.${(asked >> 8) & 255}.${asked & 255}`,
  authorization: `Basic ${Buffer.from(`ama:${password}`).toString('base64')}`,
  accept: 'text/html',
})

async function expectSound(path: string, body?: string, type = 'application/x-www-form-urlencoded') {
  const headers = { ...somebody(), 'content-type': type }
  const init = body === undefined ? { headers } : { method: 'POST', body, headers }
  const { http, headers: told, text } = await send(gateway.url + path, init)
  expect([path, body, http < 500 && http !== 429]).toEqual([path, body, true])
  expect(told.get('x-request-id')).toMatch(/^req_/)
  // A search of the documentation quotes its commands, which name such folders.
  const isQuoted = path.startsWith('/docs') && http === 200
  if (!isQuoted) expect(text).not.toMatch(/ at \S+ \(|node_modules|\/src\/|syntax error/i)
}

const bugs = () => gateway.logs.filter(line => line.includes('"bug'))

test('any input at any route breaks nothing, and no answer reveals internals', async () => {
  const rounds = fc.asyncProperty(
    fc.nat(),
    fieldsOf(odd),
    fieldsOf(json),
    fc.boolean(),
    async (at, words, values, is) => {
      const path = doors()[at % doors().length] as string
      const form = queryOf(opened(words, is))
      await expectSound(`${path}?${form.slice(0, 4000)}`)
      await expectSound(path, form)
      await expectSound(path, JSON.stringify(opened(values, is)), 'application/json')
    },
  )
  await fc.assert(rounds, { numRuns: 200 })
  expect(bugs()).toEqual([])
})
