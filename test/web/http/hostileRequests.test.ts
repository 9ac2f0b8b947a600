import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestGateway, type TestMerchant, testGateway } from '../../support/gateway/gateway.ts'
import {
  checkStatus,
  newInvoice,
  post,
  sign,
  signedQuestion,
  signedRequest,
} from '../../support/merchant/merchant.ts'
import { dial } from '../../support/gateway/rawHttp.ts'

let gateway: TestGateway
let shop: TestMerchant
beforeAll(async () => {
  gateway = await testGateway()
  shop = await gateway.addMerchant()
})
afterAll(() => gateway.stop())

// Sends the text and reads until the connection ends.
async function say(text: string): Promise<string> {
  const { socket, heard, ended } = await dial(gateway.url)
  socket.write(text)
  await ended
  return heard()
}

const lines = (...all: string[]) => [...all, '', ''].join('\r\n')
const last = 'connection: close'

describe('a request within a request', () => {
  const hidden = lines('GET /healthz HTTP/1.1', 'host: here', last)
  const start = ['POST /v1/mobile_agents_v2 HTTP/1.1', 'host: here']
  for (const [what, text] of [
    ['a length and chunks', lines(...start, 'content-length: 5', 'transfer-encoding: chunked') + '0\r\n\r\n'],
    ['chunks and a length', lines(...start, 'transfer-encoding: chunked', 'content-length: 5') + '0\r\n\r\n'],
    ['two lengths', lines(...start, 'content-length: 0', 'content-length: 60')],
    ['two lengths in one', lines(...start, 'content-length: 0, 60')],
    ['a length with a sign', lines(...start, 'content-length: +0')],
    ['a coding that ends otherwise', lines(...start, 'transfer-encoding: chunked, identity')],
    ['a coding of another name', lines(...start, 'transfer-encoding: xchunked')],
    ['a space before the colon', lines(...start, 'transfer-encoding : chunked')],
    ['a header that goes on in the next line', lines(...start, 'x: y', ' content-length: 60')],
    ['lines that end in a line feed', lines(...start, 'content-length: 0').replaceAll('\r\n', '\n')],
    ['a lone carriage return', lines(...start, 'x: y\rcontent-length: 60')],
    ['a chunk whose size is none', `${lines(...start, 'transfer-encoding: chunked')}0x0\r\n\r\n`],
  ] as const)
    test(`${what}: refused, and what is behind it is not read`, async () => {
      const heard = await say(text + hidden)
      expect(heard).toMatch(/^HTTP\/1\.1 400 /)
      expect(heard.match(/^HTTP\/1\.1 /gm)).toHaveLength(1)
    })

  test('as the body of one that needs none: it is a body', async () => {
    const heard = await say(
      lines('GET /healthz HTTP/1.1', 'host: here', `content-length: ${hidden.length}`, last) + hidden,
    )
    expect(heard.match(/^HTTP\/1\.1 /gm)).toHaveLength(1)
  })
})

test('no address in an answer contains the Host header', async () => {
  const { merchant_key, secret_key } = shop.test
  const form = (invoice_id: string) =>
    new URLSearchParams({
      merchant_key,
      invoice_id,
      total: '1.00',
      secure_hash: sign(secret_key, `invoice_id=${invoice_id}&merchant_key=${merchant_key}&total=1.00`),
    }).toString()
  const evil = ['host: evil.example', 'x-forwarded-host: evil.example', 'forwarded: host=evil.example', last]
  for (const path of [`/gateway?${form(newInvoice())}`, '/openapi.json', '/checkout/nothing', '/docs']) {
    const heard = await say(lines(`GET ${path} HTTP/1.1`, ...evil))
    expect(heard).toMatch(/^HTTP\/1\.1 \d{3} /)
    expect(heard).not.toContain('evil.example')
  }
  const body = JSON.stringify(signedRequest(shop.test))
  const head = lines(
    'POST /v1/mobile_agents_v2 HTTP/1.1',
    ...evil,
    `content-length: ${body.length}`,
    'content-type: application/json',
  )
  const heard = await say(head + body)
  expect(heard).toContain(`"checkout_url":"${gateway.url}/checkout/`)
  expect(heard).not.toContain('evil.example')
})

test('a header behind a thousand others is read', async () => {
  const many = Array.from({ length: 1500 }, (_, at) => `h${at}: 1`)
  const heard = await say(
    lines('GET /metrics HTTP/1.1', 'host: localhost', ...many, 'x-forwarded-for: 203.0.113.9', last),
  )
  expect(heard).toMatch(/^HTTP\/1\.1 403 /) // it tells that somebody else asks
})

test('fields named like properties of every object are fields, and no other object has them', async () => {
  const named = {
    extra___proto__: 'a',
    extra_constructor: 'b',
    extra_toString: 'c',
    extra_hasOwnProperty: 'd',
  }
  const request = signedRequest(shop.test, named)
  const text = JSON.stringify(request).replace(/}$/, ',"__proto__":{"total":"1"},"constructor":{"x":"y"}}')
  expect((await post(gateway.url, text)).http).toBe(200)
  const { invoice_id } = request
  const { text: answer } = await checkStatus(gateway.url, signedQuestion(shop.test, invoice_id))
  for (const pair of ['"__proto__":"a"', '"constructor":"b"', '"toString":"c"', '"hasOwnProperty":"d"'])
    expect(answer).toContain(pair)
  expect(answer).toContain('"amount":25')
  expect(Object.keys(Object.prototype)).toEqual([])
})

test('a number of 60,000 digits from an unknown client delays no other request', {
  timeout: 10_000,
}, async () => {
  const long = `{"merchant_key":"x","invoice_id":"y","total":0.${'0'.repeat(60_000)}1}`
  const [refused, served] = await Promise.all([
    post(gateway.url, long),
    post(gateway.url, signedRequest(shop.test)),
  ])
  expect([refused.http, served.http]).toEqual([401, 200])
})
