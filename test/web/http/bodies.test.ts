import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestGateway, type TestMerchant, testGateway } from '../../support/gateway/gateway.ts'
import { type Answer, send, sign, signedRequest } from '../../support/merchant/merchant.ts'
import { dial } from '../../support/gateway/rawHttp.ts'

let gateway: TestGateway
let shop: TestMerchant

// Behind a proxy the address is in a header, so a test can send from many addresses.
beforeAll(async () => {
  gateway = await testGateway({ TOLLGATE_TRUST_PROXY: '1' })
  shop = await gateway.addMerchant('unsigned_requests=on')
})
afterAll(() => gateway.stop())

let hosts = 0
const newAddress = () => `192.0.2.${++hosts}`

const post = (path: string, type: string, body: string | Buffer, address = newAddress()) =>
  send(gateway.url + path, {
    method: 'POST',
    headers: { 'content-type': type, 'x-forwarded-for': address },
    body: new Uint8Array(Buffer.from(body)),
    redirect: 'manual',
  })

const initiation = '/v1/mobile_agents_v2'
const multipart = 'multipart/form-data; boundary='

const formOf = (boundary: string, fields: object, more: readonly string[] = []) =>
  `${Object.entries(fields)
    .map(([name, value]) =>
      [
        `--${boundary}`,
        `Content-Disposition: form-data; name="${name}"`,
        ...more,
        '',
        String(value),
        '',
      ].join('\r\n'),
    )
    .join('')}--${boundary}--\r\n`

function signedForm(keys = shop.live) {
  const { generate_checkout_url: _, ...form } = signedRequest(keys)
  return form
}

function unsignedForm() {
  const { secure_hash: _, ...form } = signedForm()
  return form
}

describe('multipart forms of old clients, with live keys', () => {
  for (const door of ['/gateway', '/gateway/checkout', '/'])
    for (const [what, fields] of [
      ['signed', signedForm],
      ['unsigned', unsignedForm],
    ] as const)
      test(`${what}, at ${door}: to the checkout page`, async () => {
        const { http, headers } = await post(door, `${multipart}*****`, formOf('*****', fields()))
        expect(http).toBe(303)
        expect(headers.get('location')).toContain('/checkout/')
      })

  for (const [what, type, boundary, more] of [
    [
      'a quoted boundary and a type for each part (.NET)',
      '"0f1b-77"',
      '0f1b-77',
      ['Content-Type: text/plain; charset=utf-8'],
    ],
    ['a boundary of 70 characters', 'b'.repeat(70), 'b'.repeat(70), []],
    ['another parameter behind it', 'x; charset=UTF-8', 'x', ['Content-Transfer-Encoding: 8bit']],
  ] as const)
    test(`${what}: the answer of the API`, async () => {
      const { http, body } = await post(
        initiation,
        multipart + type,
        formOf(boundary, signedRequest(shop.live), more),
      )
      expect([http, body.success]).toEqual([200, true])
    })

  test('a status check', async () => {
    const request = signedRequest(shop.live)
    await post(initiation, `${multipart}x`, formOf('x', request))
    const { invoice_id } = request
    const { merchant_key } = shop.live
    const { http, body } = await post(
      '/gateway/json_status_chk',
      `${multipart}x`,
      formOf('x', { merchant_key, invoice_id }),
    )
    expect([http, body[invoice_id].status]).toEqual([200, 'awaiting_payment'])
  })

  test('errors have HTTP 200 for a merchant with errors_as_200', async () => {
    const old = await gateway.addMerchant('errors_as_200=on')
    const form = { ...signedForm(old.live), total: '0' }
    const hash = sign(
      old.live.secret_key,
      `invoice_id=${form.invoice_id}&merchant_key=${old.live.merchant_key}&total=0`,
    )
    const { http, body } = await post(
      '/gateway',
      `${multipart}x`,
      formOf('x', { ...form, secure_hash: hash }),
    )
    expect([http, body.status_code, body.error.field]).toEqual([200, 400, 'total'])
  })
})

const refusal = ({ http, body }: Answer) => [http, body.error.code, body.error.field]

for (const [what, type, body, field] of [
  [
    'a boundary of 71 characters',
    multipart + 'b'.repeat(71),
    formOf('b'.repeat(71), { total: '1' }),
    'content-type',
  ],
  [
    'a boundary of 12,000 characters',
    multipart + 'b'.repeat(12_000),
    formOf('b'.repeat(12_000), { total: '1' }),
    'content-type',
  ],
  ['no boundary', 'multipart/form-data', formOf('x', { total: '1' }), 'content-type'],
  [
    '201 parts',
    `${multipart}x`,
    formOf('x', Object.fromEntries(Array.from({ length: 201 }, (_, at) => [`f${at}`, 1]))),
    undefined,
  ],
  ['no multipart at all', `${multipart}x`, 'total=1', undefined],
] as const)
  test(`${what} is refused with an id`, async () => {
    const answer = await post(initiation, type, body)
    expect(refusal(answer)).toEqual([400, 'GW-012', field])
    expect(answer.body.request_id).toBe(answer.headers.get('x-request-id'))
  })

const head = (...headers: string[]) =>
  [`POST ${initiation} HTTP/1.1`, 'host: here', 'content-type: application/json', ...headers, '', ''].join(
    '\r\n',
  )
const chunks = (text: string) => [...text].map(char => `1\r\n${char}\r\n`).join('')

test('a request of less than 4 KiB in chunks of one byte is read', async () => {
  const { socket, answers, ended } = await dial(gateway.url)
  socket.write(
    `${head('transfer-encoding: chunked', 'connection: close')}${chunks(JSON.stringify(signedRequest(shop.live)))}0\r\n\r\n`,
  )
  await ended
  expect(answers()).toEqual([{ http: 200, closes: true }])
})

test('64 KiB in chunks of one byte are refused, and the connection is closed', async () => {
  const { socket, heard, answers, ended } = await dial(gateway.url)
  socket.write(`${head('transfer-encoding: chunked')}${chunks(' '.repeat(65_000))}`)
  await ended
  expect(answers()).toEqual([{ http: 400, closes: true }])
  expect(heard()).toContain('more than 4096 pieces')
})

test('64 KiB in a few large pieces are read', async () => {
  const { socket, answers, ended } = await dial(gateway.url)
  const body = JSON.stringify(signedRequest(shop.live)).padEnd(65_536)
  socket.write(head('content-length: 65536', 'connection: close'))
  for (let at = 0; at < body.length; at += 1000) socket.write(body.slice(at, at + 1000))
  await ended
  expect(answers()).toEqual([{ http: 200, closes: true }])
})
