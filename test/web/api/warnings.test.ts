import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestGateway, testGateway, type TestMerchant } from '../../support/gateway/gateway.ts'
import {
  checkStatus,
  newInvoice,
  post,
  send,
  signedQuestion,
  signedRequest,
} from '../../support/merchant/merchant.ts'

let gateway: TestGateway
let shop: TestMerchant
beforeAll(async () => {
  gateway = await testGateway({ TOLLGATE_EGRESS_PORTS: '9000' })
  shop = await gateway.addMerchant()
})
afterAll(() => gateway.stop())

const warningsOf = async (fields: Record<string, unknown>, keys = shop.test) => {
  const { http, body } = await post(gateway.url, signedRequest(keys, fields))
  expect(http).toBe(200)
  return body.warnings as { field: string; code: string; message: string }[] | undefined
}

for (const [sent, meant] of [
  ['Description', 'description'],
  ['descripton', 'description'],
  ['successUrl', 'success_url'],
  ['success-url', 'success_url'],
  ['sucess_url', 'success_url'],
  ['callback_url', 'ipn_url'],
  ['webhook_url', 'ipn_url'],
  ['phone', 'number'],
  ['nubmer', 'number'],
  ['e_mail', 'email'],
  ['customer_email', 'email'],
  ['items', 'line_items'],
  ['extra_outlets', 'extra_outlet'],
  ['cancelUrl', 'cancelled_url'],
] as const)
  test(`${sent} is named, with ${meant}`, async () => {
    const [warning, ...more] = (await warningsOf({ [sent]: 'https://shop.example' })) ?? []
    expect(more).toEqual([])
    expect(warning).toEqual({
      field: sent,
      code: sent === 'Description' ? 'field_case' : 'unknown_field',
      message: expect.stringContaining(meant === 'cancelled_url' ? 'cancel' : meant),
    })
  })

test('a field that resembles none is named without a guess; a field of the merchant is not', async () => {
  expect(await warningsOf({ colour: 'blue', extra_colour: 'blue' })).toEqual([
    {
      field: 'colour',
      code: 'unknown_field',
      message: 'colour is not a field of this request and is ignored. Fields of your own begin with extra_.',
    },
  ])
})

test('a request without a mistake has no warnings', async () => {
  const fields = {
    ipn_url: 'https://shop.example/ipn',
    success_url: 'https://shop.example',
    extra_table: '7',
  }
  expect(await warningsOf(fields)).toBeUndefined()
  expect(
    await warningsOf({ ...fields, cancel_url: 'https://shop.example', extra_name: 'Ama' }),
  ).toBeUndefined()
})

for (const [wrong, right, code] of [
  ['Total', 'total', 'GW-003'],
  ['amount', 'total', 'GW-003'],
  ['invoiceId', 'invoice_id', 'GW-002'],
  ['merchantKey', 'merchant_key', 'GW-001'],
  ['secureHash', 'secure_hash', 'GW-010'],
] as const)
  test(`${wrong} instead of ${right}: the refusal names it`, async () => {
    const { [right]: value, ...request } = signedRequest(shop.test) as Record<string, unknown>
    const { body } = await post(gateway.url, { ...request, [wrong]: value })
    expect(body.error.code).toBe(code)
    expect(body.warnings).toEqual([
      { field: wrong, code: expect.any(String), message: expect.stringContaining(right) },
    ])
  })

test('at most ten fields are named, and no name is repeated as it is', async () => {
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`f${at}\u0001é`, 'x']))
  const warnings = await warningsOf(many)
  expect(warnings).toHaveLength(10)
  expect(warnings?.[0]?.field).toBe('f0??')
})

const privateText = '192.168.1.7 is a private address'
for (const [ipn_url, inTest, inLive] of [
  ['https://192.168.1.7/ipn', ['never_called', privateText], ['never_called', privateText]],
  ['http://localhost:3000/ipn', ['never_called', 'port 3000'], ['never_called', 'port 3000']],
  ['https://[::1]/ipn', ['never_called', 'loopback'], ['never_called', 'loopback']],
  ['https://0x7f.1/ipn', ['never_called', 'loopback'], ['never_called', 'loopback']],
  ['https://shop.example:81/ipn', ['never_called', 'port 81'], ['never_called', 'port 81']],
  ['http://shop.example/ipn', ['plain_http', 'Use https'], undefined],
  ['https://shop.example:9000/ipn', undefined, undefined],
] as const)
  test(`ipn_url ${ipn_url}: ${inTest?.[0] ?? 'no warning'} in test mode, ${inLive?.[0] ?? 'none'} in live mode`, async () => {
    for (const [keys, expected] of [
      [shop.test, inTest],
      [shop.live, inLive],
    ] as const)
      expect(await warningsOf({ ipn_url }, keys)).toEqual(
        expected && [{ field: 'ipn_url', code: expected[0], message: expect.stringContaining(expected[1]) }],
      )
  })

test('live mode answers with no other warning', async () => {
  const fields = { Description: 'x', success_url: 'http://shop.example', ipn_url: 'http://shop.example/ipn' }
  expect(await warningsOf(fields, shop.live)).toBeUndefined()
  const { body } = await post(gateway.url, { ...signedRequest(shop.live), total: undefined, Total: '25.00' })
  expect([body.error.code, body.warnings]).toEqual(['GW-003', undefined])
})

test("the address of the merchant's setting is judged where the request has none", async () => {
  const other = await gateway.addMerchant('ipn_url=http://10.1.2.3/ipn')
  for (const keys of [other.test, other.live])
    expect(await warningsOf({}, keys)).toEqual([
      { field: 'ipn_url', code: 'never_called', message: expect.stringContaining('in your settings') },
    ])
})

test('an address that the operator allows is not named', async () => {
  const local = await testGateway({ TOLLGATE_EGRESS_LOOPBACK: 'on' })
  const merchant = await local.addMerchant()
  const request = { ipn_url: 'https://127.0.0.1:3000/ipn' }
  for (const keys of [merchant.test, merchant.live]) {
    const { http, body } = await post(local.url, signedRequest(keys, request))
    expect([http, body.warnings]).toEqual([200, undefined])
  }
  await local.stop()
})

test('a status check names misspelt fields in test mode alone', async () => {
  for (const [keys, warned] of [
    [shop.test, true],
    [shop.live, false],
  ] as const) {
    const { invoice_id } = (await post(gateway.url, signedRequest(keys))).body
    const { secure_hash: secureHash, ...question } = signedQuestion(keys, invoice_id)
    const { http, body } = await checkStatus(gateway.url, { ...question, secureHash })
    expect([http, body.status]).toEqual([200, 'awaiting_payment'])
    const warning = {
      field: 'secureHash',
      code: 'unknown_field',
      message: expect.stringContaining('secure_hash'),
    }
    expect(body.warnings).toEqual(warned ? [warning] : undefined)
    expect(body[invoice_id].warnings).toBeUndefined()
  }
})

const ask = (merchant_key: string) => checkStatus(gateway.url, { merchant_key, invoice_id: 'none', x: 'tk_' })

test('an unknown merchant is warned like a known one, so a warning tells nothing', async () => {
  for (const prefix of ['tk', 'lk'] as const) {
    const known = await ask(prefix === 'tk' ? shop.test.merchant_key : shop.live.merchant_key)
    const unknown = await ask(`${prefix}_stranger`)
    expect(known.body.warnings).toEqual(unknown.body.warnings)
    expect(known.body.warnings === undefined).toBe(prefix === 'lk')
  }
})

test('a 409 to a signed request names the fields that differ, in test mode with both values', async () => {
  const first = {
    invoice_id: newInvoice(),
    email: 'ama@mail.example',
    number: '0241234567',
    description: 'Two hats',
    ipn_url: 'https://shop.example/ipn?order=7',
    extra_table: 'Ama',
    line_items: [{ name: 'Hat', quantity: 2, total: '25.00' }],
  }
  const second = {
    ...first,
    total: '30.00',
    email: 'kofi@mail.example',
    number: '0201234567',
    description: undefined,
    ipn_url: 'https://shop.example/other?order=8',
    extra_table: 'Kofi',
    extra_more: 'x',
    line_items: undefined,
  }
  for (const keys of [shop.test, shop.live]) {
    expect((await post(gateway.url, signedRequest(keys, first))).http).toBe(200)
    expect((await post(gateway.url, signedRequest(keys, first))).http).toBe(200)
    const { http, body } = await post(gateway.url, signedRequest(keys, second))
    expect([http, body.error.code, body.error.field]).toEqual([409, 'GW-005', 'invoice_id'])
    const names = [
      'total',
      'ipn_url',
      'number',
      'email',
      'description',
      'line_items',
      'extra_more',
      'extra_table',
    ]
    expect(body.message).toContain(`(different: ${names.join(', ')})`)
    if (keys === shop.live) expect(body.error.differences).toEqual(names.map(field => ({ field })))
    else
      expect(body.error.differences).toEqual([
        { field: 'total', stored: '25.00', sent: '30.00' },
        { field: 'ipn_url', stored: 'https://shop.example/ipn?•••', sent: 'https://shop.example/other?•••' },
        { field: 'number', stored: '024 ••• 4567', sent: '020 ••• 4567' },
        { field: 'email', stored: 'a••@••', sent: 'k••@••' },
        { field: 'description', stored: 'Two hats', sent: null },
        { field: 'line_items', stored: expect.stringContaining('Hat'), sent: null },
        { field: 'extra_more', stored: null, sent: 'x•••' },
        { field: 'extra_table', stored: 'A•••', sent: 'K•••' },
      ])
  }
})

test('a 409 to a request without a hash names nothing', async () => {
  const open = await gateway.addMerchant('unsigned_requests=on')
  const invoice_id = newInvoice()
  const form = (total: string) =>
    send(`${gateway.url}/gateway`, {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: new URLSearchParams({ merchant_key: open.test.merchant_key, invoice_id, total }),
    })
  expect((await form('25.00')).http).toBe(303)
  const { http, body } = await form('30.00')
  expect([http, body.error?.differences, body.message]).toEqual([
    409,
    undefined,
    'invoice_id: is already used by a payment with other details',
  ])
})
