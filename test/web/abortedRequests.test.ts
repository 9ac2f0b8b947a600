import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type TestGateway, type TestMerchant, testGateway } from '../support/gateway/gateway.ts'
import { post, send, signedRequest } from '../support/merchant/merchant.ts'
import { shopOf } from '../support/checkout/stages.ts'
import { randomBelow } from '../support/random.ts'

// A client that goes away is no bug of ours: strangers must not be able to raise alarms. Real sockets are cut at every
// kind of place: in the head, in the body, after the request and before the answer.
let gateway: TestGateway
let merchant: TestMerchant
let shop: ReturnType<typeof shopOf>
const token = 'support-token-of-this-test'
const printed = [vi.spyOn(console, 'error'), vi.spyOn(console, 'warn'), vi.spyOn(console, 'info')]

beforeAll(async () => {
  gateway = await testGateway({ TOLLGATE_SUPPORT_TOKEN: token, TOLLGATE_TRUST_PROXY: '1' })
  shop = shopOf(gateway)
  merchant = await shop.merchant('Ama Shop')
})
afterAll(async () => {
  await gateway?.stop()
  for (const spy of printed) spy.mockRestore()
})

vi.setConfig({ testTimeout: 120_000 }) // each sends hundreds of requests

type Asked = { method: string; path: string; type?: string; body?: string; headers?: string[] }

const form = 'application/x-www-form-urlencoded'
const multipart = 'multipart/form-data; boundary=xx'
const parts = '--xx\r\ncontent-disposition: form-data; name="number"\r\n\r\n4111111111111111\r\n--xx--\r\n'
const password = `authorization: Basic ${Buffer.from(`ama:${token}`).toString('base64')}`

// Every kind of route that reads a body, and some that do not.
async function requests(): Promise<Asked[]> {
  const paid = await shop.ask(merchant)
  await shop.pay(paid, { payment_method: 'card' })
  const charge = await shop.attempt(paid)
  const fresh = await shop.ask(merchant)
  const json = JSON.stringify(signedRequest(merchant.test))
  const filled = new URLSearchParams({ number: '1', decision: 'approve', otp: '123456', merchant: 'x' })
  const fields = filled.toString()
  return [
    { method: 'POST', path: `/sandbox/card/${charge}`, type: form, body: fields },
    { method: 'POST', path: `/sandbox/card/${charge}`, type: multipart, body: parts },
    { method: 'POST', path: `/sandbox/card/${charge}/3ds`, type: form, body: fields },
    { method: 'POST', path: `/sandbox/phone/${charge}`, type: form, body: fields },
    { method: 'GET', path: '/sandbox/phone?number=0244123456' },
    {
      method: 'POST',
      path: '/sandbox/provider/charges',
      type: 'application/json',
      body: '{"amount":"1.00"}',
    },
    { method: 'GET', path: `/checkout/${fresh}` },
    { method: 'POST', path: `/checkout/${fresh}/pay`, type: form, body: fields },
    { method: 'POST', path: `/checkout/${fresh}/step`, type: multipart, body: parts },
    { method: 'POST', path: `/checkout/${fresh}/give-up`, type: form, body: fields },
    { method: 'POST', path: `/checkout/${fresh}/words`, type: form, body: fields },
    {
      method: 'POST',
      path: `/callbacks/${charge}`,
      type: 'application/json',
      body: '{"status":"SUCCESSFUL"}',
    },
    { method: 'POST', path: '/callbacks/account/nobody', type: 'application/json', body: '{"event":"x"}' },
    { method: 'POST', path: '/v1/mobile_agents_v2', type: 'application/json', body: json },
    { method: 'POST', path: '/gateway', type: form, body: fields },
    { method: 'POST', path: '/gateway/checkout', type: multipart, body: parts },
    { method: 'POST', path: '/', type: form, body: fields },
    { method: 'POST', path: '/v1/gateway/json_status_chk', type: form, body: fields },
    { method: 'GET', path: '/v1/events' },
    { method: 'GET', path: '/docs' },
    { method: 'GET', path: '/', headers: ['accept: text/html'] },
    { method: 'GET', path: '/support?q=TG-1', headers: [password] },
    { method: 'POST', path: '/support/receipt', type: form, body: fields, headers: [password] },
    { method: 'POST', path: '/support/redeliver', type: form, body: fields, headers: [password] },
    { method: 'GET', path: '/inbox', headers: [password] },
    { method: 'GET', path: '/metrics' },
    { method: 'GET', path: '/readyz' },
  ]
}

let addresses = 0

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`

function bytesOf({ method, path, type, body, headers = [] }: Asked, isChunked: boolean): string {
  const address = `x-forwarded-for: 198.51.${100 + (addresses >> 8)}.${addresses++ & 255}`
  const head = [`${method} ${path} HTTP/1.1`, 'host: here', address, ...headers]
  if (body === undefined) return [...head, '', ''].join('\r\n')
  const length = isChunked ? 'transfer-encoding: chunked' : `content-length: ${body.length}`
  const half = Math.ceil(body.length / 2)
  const sent = isChunked ? `${chunk(body.slice(0, half))}${chunk(body.slice(half))}0\r\n\r\n` : body
  return [...head, `content-type: ${type}`, length, '', sent].join('\r\n')
}

// Sends so many bytes in two pieces and goes away: politely, or by a reset.
async function cut(bytes: string, at: number, isReset: boolean, waits: number) {
  const { port, hostname } = new URL(gateway.url)
  const socket = connect({ port: Number(port), host: hostname, noDelay: true })
  socket.on('error', () => {})
  const closed = once(socket, 'close')
  await once(socket, 'connect')
  const first = Math.floor(at / 2)
  socket.write(bytes.slice(0, first))
  await nextTurn()
  socket.write(bytes.slice(first, at))
  for (let turn = 0; turn < waits; turn++) await nextTurn()
  if (isReset) socket.resetAndDestroy()
  else socket.destroy()
  await closed
}

const alarms = () =>
  gateway.logs
    .filter(line => (JSON.parse(line) as { level: number }).level >= 50)
    .map(line => line.slice(0, 300))

test('requests that are cut anywhere, on every route, write no line of level error and print nothing', async () => {
  const all = await requests()
  for (const asked of all)
    for (const isChunked of asked.body === undefined ? [false] : [false, true]) {
      const bytes = bytesOf(asked, isChunked)
      const body = bytes.indexOf('\r\n\r\n') + 4
      const places = [
        randomBelow(body),
        body,
        body + Math.ceil((bytes.length - body) / 3),
        body + randomBelow(bytes.length - body),
        bytes.length - 1,
        bytes.length,
      ]
      await Promise.all(
        places.flatMap((at, n) => [cut(bytes, at, true, n), cut(bytes, at, false, randomBelow(20))]),
      )
    }
  await sleep(200) // what was under way ends
  expect((await post(gateway.url, signedRequest(merchant.test))).http).toBe(200)
  expect(alarms()).toEqual([])
  expect(printed.flatMap(spy => spy.mock.calls.map(call => String(call[0])))).toEqual([])
})

test('malformed paths, queries and headers of unknown clients write no line of level error', async () => {
  const odd = [
    '%00',
    '%ff',
    '%',
    '%2e%2e',
    '\u00e9'.repeat(50),
    "'",
    '%F0%9F%92%A9',
    'a'.repeat(3000),
    '-1',
    '1e999',
  ]
  const paths = odd.flatMap(word => [
    `/checkout/${word}`,
    `/checkout/${word}/state`,
    `/public/logos/${word}/x.png`,
    `/public/accent/${word}.css`,
    `/callbacks/${word}`,
    `/callbacks/account/${word}/x`,
    `/sandbox/phone/${word}`,
    `/sandbox/phone?number=${word}`,
    `/sandbox/card/${word}/3ds`,
    `/support?q=${word}&merchant=${word}`,
    `/inbox?before=${word}&limit=${word}`,
    `/inbox/${word}/${word}`,
    `/?merchant_key=${word}&lang=${word}`,
    `/v1/gateway/status_chk?merchant_key=${word}&invoice_id=${word}`,
  ])
  const headers = { authorization: password.slice('authorization: '.length), 'accept-language': '\u00ff;q=x' }
  for (const path of paths)
    for (const method of ['GET', 'POST']) {
      const { http } = await send(gateway.url + path, { method, headers })
      expect([path, method, http]).not.toEqual([path, method, 500])
    }
  expect(alarms()).toEqual([])
})
