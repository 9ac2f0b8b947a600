import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestGateway, type TestMerchant, testGateway } from '../../support/gateway/gateway.ts'
import { checkStatus, post, signedRequest } from '../../support/merchant/merchant.ts'
import { dial, get } from '../../support/gateway/rawHttp.ts'

let gateway: TestGateway
let shop: TestMerchant
beforeAll(async () => {
  gateway = await testGateway()
  shop = await gateway.addMerchant()
})
afterAll(() => gateway.stop())

const h2c = [
  'Connection: Upgrade, HTTP2-Settings',
  'Upgrade: h2c',
  'HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA',
]
const websocket = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]

// Java's HttpClient offers h2c with its first request, as `curl --http2` does.
function signedPost(headers: readonly string[], request = signedRequest(shop.live)) {
  const body = JSON.stringify(request)
  const lines = ['POST /v1/mobile_agents_v2 HTTP/1.1', 'host: here', 'content-type: application/json']
  return [...lines, `content-length: ${body.length}`, ...headers, '', body].join('\r\n')
}

// Sends it and reads until the gateway closes the connection.
async function say(first: string, ...later: string[]) {
  const { socket, heard, answers, errors, ended } = await dial(gateway.url)
  socket.write(first)
  for (const text of later) {
    await expect.poll(heard).not.toBe('')
    socket.write(text)
  }
  await ended
  expect(errors).toEqual([])
  return { heard: heard(), answers: answers() }
}

const answeredAndClosed = [{ http: 200, closes: true }]

for (const [protocol, headers] of [
  ['h2c', h2c],
  ['websocket', websocket],
] as const)
  describe(`an offer of ${protocol}`, () => {
    for (const [what, first] of [
      ['GET', () => get('/healthz', ...headers)],
      [
        'GET of the API',
        () =>
          get(
            `/v1/gateway/json_status_chk?merchant_key=${shop.live.merchant_key}&invoice_id=none`,
            ...headers,
          ),
      ],
      ['signed POST', () => signedPost(headers)],
    ] as const) {
      const http = what === 'GET of the API' ? 404 : 200
      test(`${what}: is answered as ever, then the connection closes`, async () => {
        expect((await say(first())).answers).toEqual([{ http, closes: true }])
      })

      test(`${what}, with a request behind it: the answer closes the connection`, async () => {
        expect((await say(first() + get('/healthz'))).answers).toEqual([{ http, closes: true }])
      })
    }

    test('behind a request without one: both are answered', async () => {
      const { answers } = await say(get('/healthz') + signedPost(headers) + get('/healthz'))
      expect(answers).toEqual([{ http: 200, closes: false }, ...answeredAndClosed])
    })

    test('a payment request behind it is not stored without an answer', async () => {
      const request = signedRequest(shop.live)
      const { socket, answers, ended } = await dial(gateway.url)
      socket.write(signedPost(headers))
      socket.write(signedPost([], request)) // in a packet of its own: Node reads it
      await ended
      expect(answers()).toEqual(answeredAndClosed)
      const { merchant_key } = shop.live
      const status = await checkStatus(gateway.url, { merchant_key, invoice_id: request.invoice_id })
      expect(status.http).toBe(404)
      expect((await post(gateway.url, request)).http).toBe(200) // repeated on a new connection
    })
  })

test('the body of a request with an offer may come later', async () => {
  const whole = signedPost(h2c)
  const { socket, answers, ended } = await dial(gateway.url)
  socket.write(whole.slice(0, -20))
  await new Promise(resolve => setTimeout(resolve, 100))
  socket.write(whole.slice(-20))
  await ended
  expect(answers()).toEqual(answeredAndClosed)
})

test('a browser or proxy that names Connection: upgrade without a protocol keeps its connection', async () => {
  const { socket, answers } = await dial(gateway.url)
  socket.write(get('/healthz', 'connection: upgrade') + get('/healthz'))
  await expect
    .poll(() => answers())
    .toEqual([
      { http: 200, closes: false },
      { http: 200, closes: false },
    ])
  socket.destroy()
})

test('CONNECT is refused with an answer', async () => {
  const { heard, answers } = await say('CONNECT example.com:443 HTTP/1.1\r\nhost: example.com:443\r\n\r\n')
  expect(answers).toEqual([{ http: 405, closes: true }])
  expect(heard).toMatch(/"request_id":"req_\w+"/)
})
