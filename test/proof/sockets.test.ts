import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type TestGateway, type TestMerchant, testGateway } from '../support/gateway/gateway.ts'
import { post, send, signedRequest } from '../support/merchant/merchant.ts'

let gateway: TestGateway
let shop: TestMerchant

beforeAll(async () => {
  gateway = await testGateway()
  shop = await gateway.addMerchant()
})
afterAll(() => gateway.stop())

// Says something to the gateway, then something more every half second, until the gateway hangs up.
function speak(text: string, more = ''): Promise<string> {
  return new Promise(resolve => {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1')
    const timer = more ? setInterval(() => socket.write(more), 500) : undefined
    let heard = ''
    socket.on('data', chunk => (heard += chunk))
    socket.on('error', () => {}) // we may still be speaking
    socket.on('close', () => (clearInterval(timer), resolve(heard)))
    socket.write(text)
  })
}

const head = (...headers: string[]) =>
  [
    'POST /v1/mobile_agents_v2 HTTP/1.1',
    'host: here',
    'content-type: application/json',
    ...headers,
    '',
    '',
  ].join('\r\n')

const chunk = `4000\r\n${' '.repeat(0x4000)}\r\n`
const nested = (levels: number) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`
const withLength = (body: string) => head(`content-length: ${body.length}`, 'connection: close') + body

for (const [what, text, http, code] of [
  ['a body declared as larger than 64 KiB', head('content-length: 65537'), 413, 'GW-013'],
  ['a body declared as endless', head('content-length: 99999999999'), 413, 'GW-013'],
  ['chunks of more than 64 KiB', head('transfer-encoding: chunked') + chunk.repeat(5), 413, 'GW-013'],
  ['64 KiB of spaces', withLength(' '.repeat(65_536)), 400, 'GW-012'],
  ['JSON of 17 levels', withLength(nested(16)), 400, 'GW-012'],
  ['JSON of 30,000 levels', withLength(nested(30_000)), 400, 'GW-012'],
  ['a header of 20 KB', head(`cookie: ${'a'.repeat(20_000)}`), 431, 'GW-013'],
  [
    'ten thousand small headers',
    head(...Array.from({ length: 10_000 }, (_, n) => `h${n}: 1`)),
    431,
    'GW-013',
  ],
  ['no HTTP at all', '\x16\x03\x01\x02\x00\x01\r\n\r\n', 400, 'GW-012'],
  ['two lengths', head('content-length: 1', 'content-length: 2'), 400, 'GW-012'],
  ['a length and chunks', head('content-length: 1', 'transfer-encoding: chunked'), 400, 'GW-012'],
] as const) {
  test(`${what}: ${http} with ${code} and an id, then the connection is closed`, async () => {
    const heard = await speak(text)
    assert.match(heard, new RegExp(`^HTTP/1.1 ${http} `))
    assert.match(heard, new RegExp(`"code":"${code}"`))
    const [, id] = /^x-request-id: (req_\w+)\r$/im.exec(heard) ?? []
    assert.match(heard, new RegExp(`"request_id":"${id}"`))
  })
}

test('garbage after a good request: the connection is closed, and others do not notice', async () => {
  const good = 'GET /healthz HTTP/1.1\r\nhost: here\r\n\r\n'
  const heard = await Promise.all(Array.from({ length: 50 }, () => speak(`${good}\0\0\0\r\n\r\n`)))
  for (const text of heard) assert.match(text, /HTTP\/1.1 400 Bad Request/)
  assert.equal((await post(gateway.url, signedRequest(shop.test))).http, 200)
})

test('64 KiB of a good request pass', async () => {
  const body = JSON.stringify(signedRequest(shop.test)).padEnd(65_536)
  assert.equal((await post(gateway.url, body)).http, 200)
})

describe.concurrent('slow and silent connections are closed', () => {
  for (const [what, text, more, heard] of [
    ['not a byte', '', '', /^(HTTP\/1.1 408 |$)/],
    ['half a header', 'GET /healthz HTTP/1.1\r\nhost: he', '', /^HTTP\/1.1 408 /],
    ['a header, byte by byte', 'GET /healthz HTTP/1.1\r\nx: ', 'a', /^HTTP\/1.1 408 /],
    ['a body, byte by byte', head('content-length: 1000'), ' ', /^HTTP\/1.1 408 /],
  ] as const) {
    test(what, async () => assert.match(await speak(text, more), heard), 40_000)
  }
})

test('an idle connection is told how long it may stay', async () => {
  assert.match((await send(`${gateway.url}/healthz`)).headers.get('keep-alive') ?? '', /^timeout=\d+/)
})
