import { afterAll, beforeAll, expect, test } from 'vitest'
import { addOutlet } from '../../../src/store/merchants/merchants.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../../support/gateway/gateway.ts'
import { type Answer, newInvoice, post, send, sign, signedRequest } from '../../support/merchant/merchant.ts'

let gateway: TestGateway
let shop: TestMerchant

beforeAll(async () => {
  gateway = await testGateway()
  shop = await gateway.addMerchant('currencies=GHS,USD')
  await addOutlet(gateway.db, {
    merchant_id: shop.merchant_id,
    code: '7',
    name: 'Osu',
    created_at: new Date(),
  })
})
afterAll(() => gateway.stop())

function expectRefusal(answer: Answer, http: number, code: string, field?: string) {
  expect({ http: answer.http, code: answer.body.error?.code, field: answer.body.error?.field }).toEqual({
    http,
    code,
    field,
  })
  expect(answer.body).toMatchObject({ success: false, status: 'error', status_code: http })
  expect(answer.body.message).toBe(answer.body.error.message)
  expect(answer.body.request_id).toBe(answer.headers.get('x-request-id'))
  expect(answer.body.request_id).toMatch(/^req_/)
}

const initiated = (answer: Answer) => {
  expect(answer.text).toContain('"success":true')
  expect(answer.http).toBe(200)
  return answer.body as { invoice_id: string; tx_reference: string; tx_token: string; checkout_url: string }
}

test('a signed request is answered with a checkout address', async () => {
  const request = signedRequest(shop.test)
  const answer = await post(gateway.url, request)
  const { tx_token } = initiated(answer)
  expect(answer.body).toEqual({
    success: true,
    status: 'new',
    status_code: 0,
    message: expect.any(String),
    invoice_id: request.invoice_id,
    tx_reference: expect.stringMatching(/^TG(-[0-9A-Z]{6}){3}$/),
    tx_token: expect.stringMatching(/^[0-9a-z]{42}$/),
    url: `${gateway.url}/checkout/${tx_token}`,
    checkout_url: `${gateway.url}/checkout/${tx_token}`,
  })
  expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
  const page = await send(answer.body.checkout_url)
  expect(page.http).toBe(200)
  expect(page.text).toContain('GHS 25.00')
  expect(page.headers.get('referrer-policy')).toBe('no-referrer')
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
})

const form = (request: object) => new URLSearchParams(request as Record<string, string>).toString()
const formType = 'application/x-www-form-urlencoded'

for (const [name, body, type] of [
  ['JSON', JSON.stringify, 'application/json'],
  ['JSON with a charset', JSON.stringify, 'application/json; charset=utf-8'],
  ['JSON with curl’s default type', JSON.stringify, formType],
  ['JSON as text/plain', JSON.stringify, 'text/plain'],
  ['JSON as nonsense', JSON.stringify, 'image/png'],
  ['urlencoded', form, formType],
] as const) {
  test(`${name} is read`, async () => {
    initiated(await post(gateway.url, body(signedRequest(shop.test)), type))
  })
}

test('JSON without a content type is read', async () => {
  const body = new Blob([JSON.stringify(signedRequest(shop.test))])
  initiated(await send(`${gateway.url}/v1/mobile_agents_v2`, { method: 'POST', body }))
})

test('multipart is read, a file in it is refused', async () => {
  const body = new FormData()
  for (const [name, value] of Object.entries(signedRequest(shop.test))) body.set(name, String(value))
  const url = `${gateway.url}/v1/mobile_agents_v2`
  initiated(await send(url, { method: 'POST', body }))
  body.set('name', new Blob(['x']), 'x.txt')
  expectRefusal(await send(url, { method: 'POST', body }), 400, 'GW-012', 'name')
})

for (const [name, total, text] of [
  ['text', '10.50', '10.50'],
  ['number, as sent', 10.5, '10.5'],
  ['number, two decimals', 10.5, '10.50'],
  ['whole number, two decimals', 10, '10.00'],
] as const) {
  test(`total as ${name} may be hashed as ${text}`, async () => {
    const invoice_id = newInvoice()
    const secure_hash = sign(
      shop.test.secret_key,
      `invoice_id=${invoice_id}&merchant_key=${shop.test.merchant_key}&total=${text}`,
    )
    initiated(await post(gateway.url, { ...signedRequest(shop.test, { invoice_id, total }), secure_hash }))
  })
}

test('a literal 10.50 in JSON may be hashed as 10.50, 10.5 and in upper case with the key as bytes', async () => {
  for (const text of ['10.50', '10.5'])
    for (const key of [shop.test.secret_key, Buffer.from(shop.test.secret_key, 'hex')]) {
      const invoice_id = newInvoice()
      const message = `invoice_id=${invoice_id}&merchant_key=${shop.test.merchant_key}&total=${text}`
      const hash = sign(key as string, message).toUpperCase()
      const body = `{"merchant_key":"${shop.test.merchant_key}","invoice_id":"${invoice_id}","total":10.50,"generate_checkout_url":true,"secure_hash":"${hash}"}`
      initiated(await post(gateway.url, body))
    }
})

for (const [missing, code] of [
  ['merchant_key', 'GW-001'],
  ['invoice_id', 'GW-002'],
  ['total', 'GW-003'],
] as const) {
  for (const value of [undefined, null, '']) {
    test(`${missing} ${String(value) || 'empty'} is ${code}`, async () => {
      expectRefusal(
        await post(gateway.url, { ...signedRequest(shop.test), [missing]: value }),
        400,
        code,
        missing,
      )
    })
  }
}

for (const [name, fields, field] of [
  ['total outside the limits', { total: '1000000.00' }, 'total'],
  ['total with an exponent', { total: '1e3' }, 'total'],
  ['unknown outlet', { extra_outlet: 'nowhere' }, 'extra_outlet'],
  ['no generate_checkout_url', { generate_checkout_url: undefined }, 'generate_checkout_url'],
  ['a phone that cannot be', { number: '12' }, 'number'],
  ['an email that is none', { email: 'x' }, 'email'],
  ['a URL that is none', { success_url: 'x' }, 'success_url'],
  ['an invoice_id that is a record key', { invoice_id: 'amount' }, 'invoice_id'],
  ['an invoice_id that breaks the string', { invoice_id: 'a&total=1' }, 'invoice_id'],
  ['control characters', { name: 'a\u0000b' }, 'name'],
] as const) {
  test(`GW-012: ${name}`, async () => {
    expectRefusal(await post(gateway.url, signedRequest(shop.test, fields)), 400, 'GW-012', field)
  })
}

for (const [name, body, type] of [
  ['not JSON', '{', 'application/json'],
  ['a JSON list', '[]', 'application/json'],
  ['a key twice', '{"a":1,"a":1}', 'application/json'],
  ['too deep', `{"a":${'['.repeat(50)}${']'.repeat(50)}}`, 'application/json'],
  ['empty', '', 'application/json'],
] as const) {
  test(`GW-012: the body is ${name}`, async () => {
    expectRefusal(await post(gateway.url, body, type), 400, 'GW-012')
  })
}

test('GW-012: a form field twice, and bytes that are not UTF-8', async () => {
  const twice = `${form(signedRequest(shop.test))}&total=1`
  expectRefusal(await post(gateway.url, twice, formType), 400, 'GW-012', 'total')
  const body = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])
  const headers = { 'content-type': 'application/json' }
  expectRefusal(
    await send(`${gateway.url}/v1/mobile_agents_v2`, { method: 'POST', headers, body }),
    400,
    'GW-012',
  )
})

test('GW-008: an unknown merchant_key', async () => {
  const stranger = { merchant_key: 'tk_stranger', secret_key: 'x' }
  expectRefusal(await post(gateway.url, signedRequest(stranger)), 401, 'GW-008', 'merchant_key')
  expectRefusal(
    await post(gateway.url, signedRequest({ ...stranger, merchant_key: 'a\0b' })),
    401,
    'GW-008',
    'merchant_key',
  )
})

test('GW-010: a wrong or missing hash; the hint in test mode only, and never the secret', async () => {
  for (const secure_hash of ['0'.repeat(64), 'x', undefined]) {
    const tested = await post(gateway.url, { ...signedRequest(shop.test), secure_hash })
    expectRefusal(tested, 401, 'GW-010', 'secure_hash')
    expect(tested.body.error.hint.hashed_string).toMatch(/^invoice_id=.+&merchant_key=tk_.+&total=25.00$/)
    expect(tested.text).not.toContain(shop.test.secret_key)
    const live = await post(gateway.url, { ...signedRequest(shop.live), secure_hash })
    expectRefusal(live, 401, 'GW-010', 'secure_hash')
    expect(live.body.error.hint).toBeUndefined()
  }
})

test('GW-010: the live secret does not sign for the test key, nor the test secret for the live key', async () => {
  const crossed = { merchant_key: shop.test.merchant_key, secret_key: shop.live.secret_key }
  expectRefusal(await post(gateway.url, signedRequest(crossed)), 401, 'GW-010', 'secure_hash')
})

test('GW-009: a deactivated merchant', async () => {
  const closed = await gateway.addMerchant()
  await gateway.deactivate(closed.merchant_id)
  expectRefusal(await post(gateway.url, signedRequest(closed.test)), 403, 'GW-009', 'merchant_key')
})

test('GW-013: a body over 64 KiB; GW-014: a type that we do not read', async () => {
  const large = { ...signedRequest(shop.test), padding: 'x'.repeat(65_536) }
  expectRefusal(await post(gateway.url, large), 413, 'GW-013')
  expectRefusal(await post(gateway.url, '<a/>', 'text/xml'), 415, 'GW-014', 'content-type')
})

test('the same request again, in any spelling, finds the same payment', async () => {
  const request = signedRequest(shop.test, {
    number: '0241234567',
    cancelled_url: 'https://a.example/no',
    extra_outlet: '7',
    extra_note: 'x',
  })
  const first = initiated(await post(gateway.url, request))
  const { cancelled_url, ...rest } = request
  for (const again of [
    request,
    { ...request, number: '+233 24 123 4567' },
    { ...rest, cancel_url: cancelled_url },
    { ...request, extra_outlet: 7 },
    { ...request, currency: 'GHS', unknown: 'ignored' },
  ])
    expect(initiated(await post(gateway.url, again))).toMatchObject(first)
})

for (const change of [
  { description: 'other' },
  { success_url: 'https://b.example/' },
  { cancelled_url: 'https://b.example/' },
  { ipn_url: 'https://b.example/' },
  { deferred_url: 'https://b.example/' },
  { number: '0201234567' },
  { email: 'b@b.example' },
  { name: 'Kofi' },
  { currency: 'USD' },
  { extra_outlet: '7' },
  { extra_note: 'y' },
  { total: '25.01' },
]) {
  test(`GW-005: the same invoice with another ${Object.keys(change)[0]} changes nothing`, async () => {
    const request = signedRequest(shop.test, { email: 'a@a.example' })
    const first = initiated(await post(gateway.url, request))
    const other = signedRequest(shop.test, { ...request, secure_hash: undefined, ...change })
    const { secure_hash: _, ...unsigned } = other
    const signed = signedRequest(shop.test, unsigned)
    expectRefusal(await post(gateway.url, signed), 409, 'GW-005', 'invoice_id')
    expect(initiated(await post(gateway.url, request))).toMatchObject(first)
  })
}

test('the same request many times at once makes one payment', async () => {
  const request = signedRequest(shop.test)
  const answers = await Promise.all(Array.from({ length: 50 }, () => post(gateway.url, request)))
  expect(new Set(answers.map(answer => initiated(answer).tx_reference)).size).toBe(1)
})

test('concurrent requests with one invoice and different details: one wins, the rest are refused', async () => {
  const invoice_id = newInvoice()
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, at) =>
      post(gateway.url, signedRequest(shop.test, { invoice_id, description: `${at}` })),
    ),
  )
  expect(answers.filter(answer => answer.http === 200)).toHaveLength(1)
  expect(answers.filter(answer => answer.http === 409)).toHaveLength(29)
})

test('test and live have invoices of their own', async () => {
  const invoice_id = newInvoice()
  const tested = initiated(await post(gateway.url, signedRequest(shop.test, { invoice_id })))
  const live = initiated(await post(gateway.url, signedRequest(shop.live, { invoice_id })))
  expect(tested.tx_reference).not.toBe(live.tx_reference)
})

test('errors_as_200 answers the same body with 200', async () => {
  const old = await gateway.addMerchant('errors_as_200=on')
  for (const [fields, code] of [
    [{ total: '1e3' }, 'GW-012'],
    [{ total: '' }, 'GW-003'],
    [{ secure_hash: 'x' }, 'GW-010'],
  ] as const) {
    const answer = await post(gateway.url, { ...signedRequest(old.test, fields), ...fields })
    expect(answer.http).toBe(200)
    expect(answer.body).toMatchObject({ success: false, status_code: expect.any(Number), error: { code } })
    expect(answer.body.status_code).toBeGreaterThanOrEqual(400)
  }
})

test('registered origins: others are refused by field', async () => {
  const strict = await gateway.addMerchant('allowed_origins=https://shop.example,http://localhost:3000')
  initiated(
    await post(
      gateway.url,
      signedRequest(strict.test, {
        success_url: 'https://shop.example/ok',
        ipn_url: 'http://localhost:3000/ipn',
      }),
    ),
  )
  for (const field of ['success_url', 'cancelled_url', 'ipn_url', 'deferred_url'])
    for (const url of [
      'https://evil.example/',
      'http://shop.example/',
      'https://shop.example.evil.example/',
      'https://shop.example:444/',
    ])
      expectRefusal(
        await post(gateway.url, signedRequest(strict.test, { [field]: url })),
        400,
        'GW-012',
        field,
      )
})

test('min_total and max_total are the merchant’s own', async () => {
  const cafe = await gateway.addMerchant('min_total=2.00', 'max_total=5')
  for (const total of ['2.00', '5']) initiated(await post(gateway.url, signedRequest(cafe.test, { total })))
  for (const total of ['1.99', '5.01'])
    expectRefusal(await post(gateway.url, signedRequest(cafe.test, { total })), 400, 'GW-012', 'total')
})

test('the direct request: signed, or unsigned where the merchant allows it', async () => {
  const open = await gateway.addMerchant('unsigned_requests=on')
  const direct = {
    generate_checkout_url: undefined,
    pymt_instrument: '0241234567',
    extra_wallet_issuer_hint: 'MTN',
  }
  for (const request of [
    signedRequest(shop.test, direct),
    { ...signedRequest(open.test, direct), secure_hash: undefined },
  ]) {
    const answer = await post(gateway.url, request)
    expect(answer.body).toEqual({
      success: true,
      status: 'new',
      status_code: 0,
      message: expect.any(String),
      invoice_id: request.invoice_id,
      tx_reference: expect.any(String),
    })
  }
  const unsigned = { ...signedRequest(shop.test, direct), secure_hash: undefined }
  expectRefusal(await post(gateway.url, unsigned), 401, 'GW-010', 'secure_hash')
  const page = { ...signedRequest(open.test), secure_hash: undefined }
  expectRefusal(await post(gateway.url, page), 401, 'GW-010', 'secure_hash') // only the older request may be unsigned
  const wrong = { ...signedRequest(open.test, direct), secure_hash: 'x' }
  expectRefusal(await post(gateway.url, wrong), 401, 'GW-010', 'secure_hash')
  const hintless = signedRequest(shop.test, { ...direct, extra_wallet_issuer_hint: undefined })
  expectRefusal(await post(gateway.url, hintless), 400, 'GW-012', 'extra_wallet_issuer_hint')
})

test('an unknown address is answered with 404 and a request id', async () => {
  const answer = await send(`${gateway.url}/v1/nothing`)
  expect(answer.http).toBe(404)
  expect(answer.body.request_id).toBe(answer.headers.get('x-request-id'))
})

test('GET on the initiation address is answered with 405 and Allow: POST', async () => {
  const answer = await send(`${gateway.url}/v1/mobile_agents_v2`)
  expect(answer.http).toBe(405)
  expect(answer.headers.get('allow')).toBe('POST')
  expect(answer.body.error).toMatchObject({
    code: 'method_not_allowed',
    message: 'This address takes POST only.',
  })
})
