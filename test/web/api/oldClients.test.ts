import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../../support/gateway/gateway.ts'
import { checkStatus, newInvoice, post, send, sign, signedRequest } from '../../support/merchant/merchant.ts'

// Code that was written years ago for a gateway with this interface, and that nobody will change: each sends and reads
// as it always has.
let gateway: TestGateway
let shop: TestMerchant // as its operator sets it for such a client

beforeAll(async () => {
  gateway = await testGateway({}, { sandboxPace: 0.1 })
  shop = await gateway.addMerchant('unsigned_requests=on')
})
afterAll(() => gateway.stop())

type Words = Record<string, string>
const formType = { 'content-type': 'application/x-www-form-urlencoded' }

// As Python's urlencode and PHP's http_build_query write pairs.
const encode = (pairs: Words | [string, string][]) => new URLSearchParams(pairs).toString()
const postForm = (path: string, pairs: Words | [string, string][], headers: Words = {}) =>
  send(gateway.url + path, { method: 'POST', headers: { ...formType, ...headers }, body: encode(pairs) })

const bare = (more: Words = {}): Words => ({
  merchant_key: shop.test.merchant_key,
  invoice_id: newInvoice(),
  total: '25.00',
  ...more,
})
const wallet = { pymt_instrument: '0240000000', extra_wallet_issuer_hint: 'MTN' }
const stored = (invoice_id: string) =>
  gateway.db.one<{ currency: string; description: string; extra: Words }>(
    sql`select currency, description, extra from payments where invoice_id = ${invoice_id}`,
  )

describe('a client that asks the wallet directly, and takes the message apart at commas', () => {
  for (const [network, number, what] of [
    ['MTN', '0240000000', 'asked on the phone'],
    ['AirtelTigo', '0260000000', 'asked on the phone'],
    ['tigo', '0270000000', 'asked on the phone'],
  ] as const)
    test(`${network}: ${what}`, async () => {
      const request = bare({ pymt_instrument: number, extra_wallet_issuer_hint: network })
      const { body } = await postForm('/v1/mobile_agents_v2', request)
      const parts: string[] = body.message.split(',')
      if (parts.length > 1) throw new Error(`the order was lost at ${parts[1]}`)
      expect([body.success, body.status, body.invoice_id]).toEqual([true, 'new', request.invoice_id])
    })

  test('with live keys, where no provider is set up', async () => {
    const request = bare({ ...wallet, merchant_key: shop.live.merchant_key })
    expect((await postForm('/v1/mobile_agents_v2', request)).body.message.split(',')).toHaveLength(1)
  })

  test('and of a page', async () => {
    const { body } = await post(gateway.url, signedRequest(shop.test))
    expect(body.message.split(',')).toHaveLength(1)
  })
})

// As a reader does that keeps names without their letter case: a second one is an error.
function readAnyCase(text: string): Record<string, any> {
  return JSON.parse(text, (_, value) => {
    if (typeof value !== 'object' || value === null) return value
    const kept: Record<string, unknown> = {}
    for (const [name, inside] of Object.entries(value)) {
      const small = name.toLowerCase()
      if (small in kept) throw new Error(`An item with the same key has already been added: ${name}`)
      kept[small] = inside
    }
    return kept
  })
}

async function untilPaid(question: Words) {
  for (let turn = 0; turn < 100; turn++) {
    const { body } = await checkStatus(gateway.url, question)
    if (body.status === 'paid') return
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  throw new Error('it was never paid')
}

describe('a client that reads names in any letter case', () => {
  test('finds a paid order, with every name that a shop has ever sent along', async () => {
    const more = {
      extra_Mobile_No: '1',
      extra_MOBILE_NO: '2',
      extra_Note: 'a',
      extra_note: 'b',
      extra_Channel: 'c',
    }
    const request = bare({ ...wallet, ...more, extra_mobile: '0241234567' })
    await postForm('/v1/mobile_agents_v2', request)
    const question = {
      merchant_key: request.merchant_key as string,
      invoice_id: request.invoice_id as string,
    }
    await untilPaid(question)
    for (const { text } of [
      await postForm('/v1/gateway/json_status_chk', question),
      await postForm('/gateway/json_status_chk', question),
      await checkStatus(gateway.url, question, '/gateway/json_status_chk'),
    ]) {
      const record = readAnyCase(text)[question.invoice_id.toLowerCase()]
      expect(record).toMatchObject({ success: true, status: 'paid', amount: '25.00' })
      expect(record.extra).toMatchObject({
        mobile_no: expect.stringContaining('•'),
        channel: 'mtn_mobile_money',
      })
      expect(Object.keys(record.extra).filter(name => name === 'note')).toHaveLength(1)
      expect(text).not.toContain('Mobile_no')
    }
  })

  test('and gets the error for an unknown order in its own format', async () => {
    const { text } = await postForm('/v1/gateway/json_status_chk', bare({ invoice_id: 'none' }))
    expect(readAnyCase(text).none).toMatchObject({ success: false, status: 'error', amount: '' })
  })

  test('and a client that reads both formats still finds the older spelling', async () => {
    const request = signedRequest(shop.test, { number: '0241234567' })
    await post(gateway.url, request)
    const question = { merchant_key: shop.test.merchant_key, invoice_id: request.invoice_id }
    const { body } = await checkStatus(gateway.url, question)
    expect(body.extra.Mobile_no).toBe(body.extra.mobile_no)
    expect(body[request.invoice_id].extra.Mobile_no).toBe(body.extra.mobile_no)
  })
})

describe('a client that posts its status check with everything in the address', () => {
  let question: Words
  beforeAll(async () => {
    const request = signedRequest(shop.test)
    await post(gateway.url, request)
    question = { merchant_key: shop.test.merchant_key, invoice_id: request.invoice_id }
  })
  const paths = ['/v1/gateway/json_status_chk', '/gateway/json_status_chk']

  for (const [how, init] of [
    ['without a body', {}],
    ['with an empty form', { headers: formType, body: '' }],
    ['with an empty form that says nothing of its kind', { body: '' }],
    ['with an empty JSON object', { headers: { 'content-type': 'application/json' }, body: '{}' }],
    ['with other fields in the body', { headers: formType, body: 'user=ama' }],
  ] as const)
    test(how, async () => {
      for (const path of paths) {
        const answer = await send(`${gateway.url}${path}?${encode(question)}`, { method: 'POST', ...init })
        expect(answer.body[question.invoice_id as string]).toMatchObject({ status: 'awaiting_payment' })
      }
      const line = await send(`${gateway.url}/v1/gateway/status_chk?${encode(question)}`, {
        method: 'POST',
        ...init,
      })
      expect(line.text).toMatch(/~awaiting_payment~/)
    })

  test('the body wins, except for its empty fields', async () => {
    const path = `/v1/gateway/json_status_chk?${encode({ ...question, invoice_id: 'another' })}`
    expect((await postForm(path, { invoice_id: question.invoice_id as string })).http).toBe(200)
    const other = `/v1/gateway/json_status_chk?${encode(question)}`
    expect((await postForm(other, { invoice_id: 'another' })).http).toBe(404)
    expect((await postForm(other, { invoice_id: '' })).http).toBe(200)
  })

  test('a hash in the address is a hash', async () => {
    const { merchant_key = '', invoice_id = '' } = question
    const secure_hash = sign(shop.test.secret_key, `invoice_id=${invoice_id}&merchant_key=${merchant_key}`)
    const path = '/v1/gateway/json_status_chk?secure_hash='
    expect((await postForm(path + secure_hash, question)).http).toBe(200)
    expect((await postForm(`${path}no`, question)).http).toBe(401)
  })
})

const pairs = (fields: Words, again: [string, string]): [string, string][] => [
  ...Object.entries(fields),
  again,
]

const multipart = (all: [string, string][]) => {
  const form = new FormData()
  for (const [name, value] of all) form.append(name, value)
  return form
}

describe('a form with a repeated field', () => {
  const doors: [string, (all: [string, string][]) => Promise<{ http: number; body: any }>][] = [
    ['urlencoded', all => postForm('/gateway', all)],
    ['multipart', all => send(`${gateway.url}/gateway`, { method: 'POST', body: multipart(all) })],
    ['a link', all => send(`${gateway.url}/gateway?${encode(all)}`)],
  ]
  for (const [how, ask] of doors) {
    test(`${how}: the same value is one field`, async () => {
      const fields = bare({ description: 'Hats' })
      expect((await ask(pairs(fields, ['total', '25.00']))).http).toBe(303)
      expect((await ask(pairs(fields, ['description', 'Hats']))).http).toBe(303) // and the same request
    })
    test(`${how}: two values are an error that names the field`, async () => {
      const { http, body } = await ask(pairs(bare(), ['total', '0.01']))
      expect([http, body.error.code, body.error.field]).toEqual([400, 'GW-012', 'total'])
    })
  }
  test('JSON with a key twice stays refused', async () => {
    const { body } = await post(gateway.url, '{"merchant_key":"a","merchant_key":"a"}')
    expect(body.error.code).toBe('GW-012')
  })
  test('the same in a status check', async () => {
    const fields = bare()
    await postForm('/gateway', fields)
    const { merchant_key = '', invoice_id = '' } = fields
    const query = `${encode({ merchant_key, invoice_id })}&invoice_id=${invoice_id}`
    expect((await send(`${gateway.url}/v1/gateway/json_status_chk?${query}`)).http).toBe(200)
  })
})

test('a form with a box of several lines: they become one, and sent again with spaces it is the same', async () => {
  const fields = bare({ description: 'Two hats\r\nOne bag\tblue\nThank you' })
  expect((await postForm('/gateway', fields)).http).toBe(303)
  const one = 'Two hats One bag blue Thank you'
  expect((await stored(fields.invoice_id as string))?.description).toBe(one)
  expect((await postForm('/gateway', { ...fields, description: one })).http).toBe(303)
})

const toCheckout = () => expect.stringMatching(new RegExp(`^${gateway.url}/checkout/[0-9a-z]{42}$`))

describe("a vendor's form that points at the bare address", () => {
  const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

  test('leads to the checkout, by POST and as a link', async () => {
    const fields = bare({ extra_name: 'Ama', extra_mobile: '0241234567' })
    const posted = await postForm('/', fields, browser)
    const linked = await send(`${gateway.url}/?${encode(fields)}`, { headers: browser })
    for (const { http, headers } of [posted, linked])
      expect([http, headers.get('location')]).toEqual([303, toCheckout()])
  })
  test('a browser gets the error as a page, a program as JSON', async () => {
    const { merchant_key: _, ...nobody } = bare()
    const page = await postForm('/', nobody, browser)
    expect([page.http, page.headers.get('content-type')]).toEqual([400, 'text/html; charset=UTF-8'])
    expect(page.text).toContain('GW-001')
    expect((await postForm('/', nobody)).body.error.code).toBe('GW-001')
    expect((await send(`${gateway.url}/?merchant_key=`)).body.error.code).toBe('GW-001')
  })
  test('a request without merchant_key is a visitor', async () => {
    for (const path of ['/', '/?lang=fr', '/?total=5'])
      expect((await send(gateway.url + path)).text).not.toContain('GW-0')
  })
  test('its signed requests work as at the other addresses', async () => {
    const strict = await gateway.addMerchant()
    const { generate_checkout_url: _, ...request } = signedRequest(strict.test)
    expect((await postForm('/', request as Words)).http).toBe(303)
    expect((await postForm('/', { ...(request as Words), secure_hash: '' })).http).toBe(401)
  })
})

const ask = (merchant: TestMerchant, more: Words) => {
  const fields = bare({ merchant_key: merchant.test.merchant_key, ...more })
  return { invoice_id: fields.invoice_id as string, sent: postForm('/gateway', fields) }
}

describe('a client that names the currency in a field of its own', () => {
  let dollars: TestMerchant
  beforeAll(async () => {
    dollars = await gateway.addMerchant('currencies=USD,GHS', 'unsigned_requests=on')
  })
  for (const [words, more, currency] of [
    ['USD is USD', { extra_currency: 'USD' }, 'USD'],
    ['in small letters too', { extra_currency: 'usd' }, 'USD'],
    ['currency wins', { extra_currency: 'USD', currency: 'GHS' }, 'GHS'],
    ['a word that is no code is the shop’s own', { extra_currency: 'Cedis' }, 'GHS'],
    ['a code that we do not know is the shop’s own', { extra_currency: 'XAU' }, 'GHS'],
  ] as const)
    test(words, async () => {
      const { invoice_id, sent } = ask(dollars, more)
      expect((await sent).http).toBe(303)
      const row = await stored(invoice_id)
      expect(row?.currency).toBe(currency)
      expect(row?.extra.currency).toBe(more.extra_currency) // and comes back
    })
  for (const code of ['USD', 'usd', ' EUR ', 'ugx'])
    test(`${code} is refused where the merchant does not take it, never charged as cedis`, async () => {
      const { invoice_id, sent } = ask(shop, { extra_currency: code })
      const { http, body } = await sent
      expect([http, body.error.code, body.error.field]).toEqual([400, 'GW-012', 'currency'])
      expect(await stored(invoice_id)).toBeUndefined()
    })
})

describe('clients with long ids', () => {
  test('a UUID is refused, and taken where the operator has set long_invoice_ids', async () => {
    const long = await gateway.addMerchant('long_invoice_ids=on')
    const id = crypto.randomUUID()
    const refused = await post(gateway.url, signedRequest(shop.test, { invoice_id: id }))
    expect(refused.body.error).toMatchObject({ code: 'GW-012', field: 'invoice_id' })
    expect(refused.body.message).toBe('invoice_id: at most 25 characters')
    const request = signedRequest(long.test, { invoice_id: id })
    expect((await post(gateway.url, request)).http).toBe(200)
    expect((await post(gateway.url, request)).http).toBe(200)
    const question = { merchant_key: long.test.merchant_key, invoice_id: id }
    expect((await checkStatus(gateway.url, question)).body[id].invoice_id).toBe(id)
    for (const [length, http] of [
      [64, 200],
      [65, 400],
    ] as const) {
      const invoice_id = `${id}${'x'.repeat(64)}`.slice(0, length)
      expect((await post(gateway.url, signedRequest(long.test, { invoice_id }))).http).toBe(http)
    }
  })
})

test('a shop that sends its form again after the customer has cancelled gets a page to pay on', async () => {
  const fields = bare()
  const first = await postForm('/gateway', fields)
  const page = first.headers.get('location') ?? ''
  await send(`${page}/cancel`, { method: 'POST' })
  expect((await send(page)).text).toContain('Cancelled')
  expect((await postForm('/gateway', fields)).headers.get('location')).toBe(page)
  const again = await send(page)
  expect([again.http, again.text.includes('How would you like to pay?')]).toEqual([200, true])
  const { merchant_key = '', invoice_id = '' } = fields
  expect((await checkStatus(gateway.url, { merchant_key, invoice_id })).body.status).toBe('awaiting_payment')
})
