import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestGateway, type TestMerchant, testGateway } from '../../support/gateway/gateway.ts'
import {
  checkStatus,
  post,
  send,
  sign,
  signedQuestion,
  signedRequest,
} from '../../support/merchant/merchant.ts'

let gateway: TestGateway
let shop: TestMerchant

beforeAll(async () => {
  gateway = await testGateway()
  shop = await gateway.addMerchant()
})
afterAll(() => gateway.stop())

const person = {
  name: 'Ama Serwaa Mensah',
  email: 'ama@shop.example',
  number: '0241234567',
  description: 'Two straw hats',
  extra_note: 'blue',
}

const record = {
  success: true,
  status: 'awaiting_payment',
  status_reason: '',
  invoice_id: expect.any(String),
  tx_reference: expect.stringMatching(/^TG-/),
  gw_invoice_id: expect.stringMatching(/^TG-/),
  payment_reference: null,
  amount: 10.5,
  currency: 'GHS',
  total_amount_charged: null,
  service_fee: null,
  payment_method: null,
  payment_instrument: null,
  payment_time: null,
  reversed_at: null,
  reversed_amount: null,
  refunded_amount: null,
  refunds: [],
  as_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
  last_updated: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
  narration: 'Two straw hats',
  buyer_firstname: 'Ama',
  buyer_lastname: 'Serwaa Mensah',
  buyer_email: 'ama@shop.example',
  buyer_phone: '+233241234567',
  tran_type: 'test',
  outlet: null,
  client_ip: null,
  client_ip_location: null,
  extra: {
    note: 'blue',
    channel: null,
    wallet_issuer_hint: null,
    email: 'ama@shop.example',
    mobile_no: '+233241234567',
    Mobile_no: '+233241234567',
    name: 'Ama Serwaa Mensah',
    card_type: null,
    psp_response_code: null,
    psp_response_msg: null,
  },
}

// Without the second spelling: readers that ignore letter case would meet the name twice.
const { Mobile_no: _, ...inAnyCase } = record.extra

async function pay(merchant: TestMerchant, fields: object = person) {
  const request = signedRequest(merchant.test, { total: '10.50', ...fields })
  const answer = await post(gateway.url, request)
  expect(answer.http).toBe(200)
  return signedQuestion(merchant.test, request.invoice_id)
}

const unsigned = ({ merchant_key, invoice_id }: { merchant_key: string; invoice_id: string }) => ({
  merchant_key,
  invoice_id,
})

test('GET answers the keyed record first, then the flat one', async () => {
  const question = await pay(shop)
  const { http, body, text } = await checkStatus(gateway.url, question)
  const { [question.invoice_id]: keyed, ...flat } = body
  expect(http).toBe(200)
  expect(flat).toEqual(record)
  expect(keyed).toEqual({ ...record, amount: '10.50' })
  expect(text.startsWith(`{"${question.invoice_id}":{`)).toBe(true)
})

test('an invoice id of digits is still the first key', async () => {
  const question = await pay(shop, { invoice_id: '20261115' })
  expect((await checkStatus(gateway.url, question)).text.startsWith('{"20261115":{')).toBe(true)
})

test('an invoice id named like a property of every object works', async () => {
  const question = await pay(shop, { invoice_id: '__proto__' })
  const { text } = await checkStatus(gateway.url, question)
  expect(text.startsWith('{"__proto__":{"success":true')).toBe(true)
})

test('POST, and the path without /v1, answer the keyed form alone', async () => {
  const question = await pay(shop)
  const body = new URLSearchParams(question)
  for (const answer of [
    await send(`${gateway.url}/v1/gateway/json_status_chk`, { method: 'POST', body }),
    await send(`${gateway.url}/gateway/json_status_chk`, { method: 'POST', body }),
    await checkStatus(gateway.url, question, '/gateway/json_status_chk'),
  ])
    expect(answer.body).toEqual({ [question.invoice_id]: { ...record, amount: '10.50', extra: inAnyCase } })
})

test('the plain-text twin', async () => {
  const question = await pay(shop)
  const { body } = await checkStatus(gateway.url, question)
  const { text } = await checkStatus(gateway.url, question, '/v1/gateway/status_chk')
  expect(text).toMatch(new RegExp(`^${body.tx_reference}~awaiting_payment~\\d{4}-.*Z$`))
  const miss = await checkStatus(
    gateway.url,
    { ...unsigned(question), invoice_id: 'none' },
    '/v1/gateway/status_chk',
  )
  expect(miss.http).toBe(404)
  expect(miss.text).toMatch(/^none~error~\d{4}-.*Z$/)
})

test('unknown invoice and unknown merchant give the same envelope', async () => {
  const known = { merchant_key: shop.test.merchant_key, invoice_id: 'none' }
  const answers = [
    await checkStatus(gateway.url, known),
    await checkStatus(gateway.url, { ...known, merchant_key: 'tk_none' }),
    await checkStatus(gateway.url, { ...known, merchant_key: shop.live.merchant_key }),
  ]
  for (const { http, body, headers } of answers) {
    const short = {
      success: false,
      status: 'error',
      status_reason: expect.any(String),
      invoice_id: 'none',
      amount: '',
    }
    expect(http).toBe(404)
    expect(body.none).toEqual(short)
    expect(body).toMatchObject({
      ...short,
      error: { code: 'GW-005' },
      request_id: headers.get('x-request-id'),
    })
  }
  const anonymous = answers.map(({ body }) => JSON.stringify({ ...body, request_id: '' }))
  expect(new Set(anonymous).size).toBe(1)
})

test('unusual invoice ids are unknown, never an internal error', async () => {
  for (const invoice_id of ['a\0b', 'é', 'x'.repeat(300), 'a&b=c', '\ud800', '"quoted"'])
    expect((await checkStatus(gateway.url, { merchant_key: shop.test.merchant_key, invoice_id })).http).toBe(
      404,
    )
})

test('missing fields are named', async () => {
  const { merchant_key } = shop.test
  expect((await checkStatus(gateway.url, { merchant_key })).body.error).toMatchObject({
    code: 'GW-002',
    field: 'invoice_id',
  })
  expect((await checkStatus(gateway.url, { invoice_id: 'x' })).body.error).toMatchObject({
    code: 'GW-001',
    field: 'merchant_key',
  })
})

test('a hash is verified when sent, in both readings of the secret', async () => {
  const question = await pay(shop)
  const text = `invoice_id=${question.invoice_id}&merchant_key=${question.merchant_key}`
  const asBytes = Buffer.from(shop.test.secret_key, 'hex') as unknown as string
  for (const secure_hash of [sign(shop.test.secret_key, text), sign(asBytes, text).toUpperCase()])
    expect((await checkStatus(gateway.url, { ...question, secure_hash })).http).toBe(200)
  const wrong = await checkStatus(gateway.url, { ...question, secure_hash: '0'.repeat(64) })
  expect(wrong.http).toBe(401)
  expect(wrong.body.error).toMatchObject({ code: 'GW-010', hint: { hashed_string: text } })
})

test('signed_status_checks makes the hash required', async () => {
  const strict = await gateway.addMerchant('signed_status_checks=on')
  const question = await pay(strict)
  const refused = await checkStatus(gateway.url, unsigned(question))
  expect(refused.http).toBe(401)
  expect(refused.body.error).toMatchObject({
    code: 'GW-010',
    hint: { likely_mistake: 'secure_hash was not sent' },
  })
  expect((await checkStatus(gateway.url, question)).http).toBe(200)
})

// A merchant key is in web forms, whatever the settings are.
for (const setting of ['unsigned_requests=off', 'unsigned_requests=on'])
  test(`${setting}: an unsigned answer has no personal data at any address, a signed one has`, async () => {
    const seen = await gateway.addMerchant(setting)
    const question = await pay(seen, {
      ...person,
      extra_phone: '0207654321',
      extra_customer_name: 'Efua Sutherland',
      extra_Email_Address: 'efua@home.example',
      extra_address: '14 Oxford Street, Osu',
      extra_ghana_card: 'GHA-725001234-5',
      extra_Mobile_No: '0207654321',
    })
    for (const [path, method] of [
      ['/v1/gateway/json_status_chk', 'GET'],
      ['/v1/gateway/json_status_chk', 'POST'],
      ['/gateway/json_status_chk', 'GET'],
      ['/gateway/json_status_chk', 'POST'],
      ['/v1/gateway/status_chk', 'GET'],
      ['/v1/gateway/status_chk', 'POST'],
      ['/gateway/status_chk', 'GET'],
    ] as const) {
      const ask = (fields: Record<string, string>) =>
        method === 'GET'
          ? checkStatus(gateway.url, fields, path)
          : send(gateway.url + path, { method, body: new URLSearchParams(fields) })
      const { http, text } = await ask(unsigned(question))
      expect([path, http]).toEqual([path, 200])
      for (const word of personal) expect(text).not.toContain(word)
      if (path.endsWith('json_status_chk')) {
        for (const name of ['note', 'phone', 'address', 'ghana_card']) expect(text).toContain(`"${name}":""`)
        const whole = (await ask(question)).text
        expect(whole).toMatch(/Serwaa Mensah.*ama@shop.example.*\+233241234567/s)
        for (const word of ['"blue"', 'Oxford Street', 'GHA-725001234-5']) expect(whole).toContain(word)
      }
    }
  })

const personal = ['Serwaa', 'Mensah', 'ama@', 'shop.example', '241234567', '0241234']
personal.push('Efua', 'Sutherland', 'efua@', 'home.example', '0207654321', '7654', 'Oxford', 'GHA-', 'blue')

// Like an old client, with live keys: a form without a hash, a status check without a hash.
test('public_extra: an unsigned answer has the listed fields and no others', async () => {
  const open = await gateway.addMerchant('public_extra=table, extra_order_no', 'unsigned_requests=on')
  const { merchant_key } = open.live
  const invoice_id = `LIVE-${Date.now()}`
  const extras = { extra_table: '7', extra_order_no: 'A-12', extra_Table: '8', extra_address: 'Osu' }
  const form = { merchant_key, invoice_id, total: '10.50', ...extras, extra_email: 'ama@shop.example' }
  const stored = await send(`${gateway.url}/gateway`, { method: 'POST', body: new URLSearchParams(form) })
  expect(stored.http).toBe(303)
  const { body } = await checkStatus(gateway.url, { merchant_key, invoice_id })
  const shown = { table: '7', order_no: 'A-12', Table: '', address: '', email: 'a••@••', channel: null }
  expect(body.extra).toMatchObject(shown)
  expect(body[invoice_id].extra).toMatchObject(shown)
  const whole = await checkStatus(gateway.url, signedQuestion(open.live, invoice_id))
  expect(whole.body.extra).toMatchObject({ ...shown, Table: '8', address: 'Osu', email: 'ama@shop.example' })
})

test('an unsigned answer has every key that a signed one has, and null where that has null', async () => {
  const question = await pay(shop)
  const [masked, whole] = [
    await checkStatus(gateway.url, unsigned(question)),
    await checkStatus(gateway.url, question),
  ]
  expect(Object.keys(masked.body)).toEqual(Object.keys(whole.body))
  expect(Object.keys(masked.body.extra)).toEqual(Object.keys(whole.body.extra))
  expect(masked.body).toMatchObject({
    buyer_firstname: 'A•••',
    buyer_lastname: null,
    buyer_email: 'a••@••',
    buyer_phone: expect.stringMatching(/•/),
    narration: 'Two straw hats',
    extra: { name: 'A•••', email: 'a••@••', note: '' },
  })
  const bare = await pay(shop, {})
  expect((await checkStatus(gateway.url, unsigned(bare))).body).toMatchObject({
    buyer_firstname: null,
    buyer_email: null,
    buyer_phone: null,
    extra: { name: null, email: null, mobile_no: null },
  })
})

test('a deactivated merchant is still answered', async () => {
  const closed = await gateway.addMerchant()
  const question = await pay(closed)
  await gateway.deactivate(closed.merchant_id)
  expect((await checkStatus(gateway.url, question)).http).toBe(200)
})

test('errors_as_200: a failed lookup is answered with 200', async () => {
  const old = await gateway.addMerchant('errors_as_200=on')
  const answer = await checkStatus(gateway.url, { merchant_key: old.test.merchant_key, invoice_id: 'none' })
  expect(answer.http).toBe(200)
  expect(answer.body.error.code).toBe('GW-005')
})

test('a repeated parameter is refused in the format of the address', async () => {
  const query = `merchant_key=${shop.test.merchant_key}&invoice_id=a&invoice_id=b`
  const json = await send(`${gateway.url}/v1/gateway/json_status_chk?${query}`)
  expect(json.body.error).toMatchObject({ code: 'GW-012', field: 'invoice_id' })
  const text = await send(`${gateway.url}/v1/gateway/status_chk?${query}`)
  expect(text.http).toBe(400)
  expect(text.text).toMatch(/^~error~/)
})
