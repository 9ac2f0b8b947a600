import { once } from 'node:events'
import { connect } from 'node:tls'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { lacksCaddy, repeatsBodies, startCaddy } from '../support/deploy/caddy.ts'
import { startFaultyNode } from '../support/deploy/faultyNode.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../support/gateway/gateway.ts'
import { checkStatus, signedQuestion, signedRequest } from '../support/merchant/merchant.ts'

// The shipped Caddyfile, with a node that works and one that reads each request and cuts the connection.
let faulty: Awaited<ReturnType<typeof startFaultyNode>>
let gateway: TestGateway
let merchant: TestMerchant
let caddy: Awaited<ReturnType<typeof startCaddy>>

beforeAll(async () => {
  if (lacksCaddy) return
  gateway = await testGateway({ TOLLGATE_TRUST_PROXY: '1' })
  merchant = await gateway.addMerchant()
  faulty = await startFaultyNode()
  caddy = await startCaddy([faulty.address, gateway.url.slice('http://'.length)])
})
beforeEach(() => {
  if (!lacksCaddy) faulty.fault = 'cut'
})
afterAll(async () => {
  if (lacksCaddy) return
  await caddy.stop()
  faulty.stop()
  await gateway.stop()
})

async function untilFaultyIsAsked(method: string, path: string, body: () => string | undefined) {
  const before = faulty.requests.length
  const answers: number[] = []
  while (faulty.requests.length === before) {
    answers.push((await caddy.ask(method, path, body())).http)
    if (answers.length % 4 === 0) await sleep(500)
  }
  return answers
}

const paymentRequest = () => JSON.stringify(signedRequest(merchant.test))

test.skipIf(!repeatsBodies)(
  'a payment request survives the death of a node, and is stored once',
  async () => {
    let invoice = ''
    const answers = await untilFaultyIsAsked('POST', '/v1/mobile_agents_v2', () => {
      const request = signedRequest(merchant.test)
      invoice = request.invoice_id
      return JSON.stringify(request)
    })
    expect(faulty.lastPath()).toBe('/v1/mobile_agents_v2')
    expect(new Set(answers)).toEqual(new Set([200]))
    const { http, body } = await checkStatus(gateway.url, signedQuestion(merchant.test, invoice))
    expect([http, body.status]).toEqual([200, 'awaiting_payment'])
  },
)

test.skipIf(lacksCaddy)(
  'a code of a step and a form of the dashboard or of support are sent once',
  async () => {
    for (const path of ['/checkout/0123456789abcdef/step', '/dashboard/sign-in', '/support/session']) {
      const answers = await untilFaultyIsAsked('POST', path, () => '{}')
      expect(faulty.lastPath()).toBe(path)
      expect(answers.at(-1)).toBe(502)
      expect(answers.slice(0, -1).filter(http => http >= 500)).toEqual([])
    }
  },
)

test.skipIf(lacksCaddy)('an answer with 503 is not repeated', async () => {
  faulty.fault = 'busy'
  const answers = await untilFaultyIsAsked('POST', '/v1/mobile_agents_v2', paymentRequest)
  expect(answers.at(-1)).toBe(503)
})

test.skipIf(lacksCaddy)('the node gets the address of the client, not the one that it claims', async () => {
  const headers = { 'x-forwarded-for': '203.0.113.7', 'x-forwarded-proto': 'http' }
  const before = faulty.requests.length
  while (faulty.requests.length === before) await caddy.ask('GET', '/docs', undefined, { headers })
  const received = faulty.requests.at(-1)?.toLowerCase()
  expect(received).toContain('\r\nx-forwarded-for: 127.0.0.1\r\n')
  expect(received).toContain('\r\nx-forwarded-proto: https\r\n')
  expect(received).toContain('\r\nhost: pay.example')
  expect(received).not.toContain('203.0.113.7')
})

test.skipIf(lacksCaddy)('each answer asks for TLS, also an error of Caddy', async () => {
  const seen = new Set<number>()
  while (!seen.has(200) || !seen.has(502)) {
    const { http, headers } = await caddy.ask(seen.has(200) ? 'POST' : 'GET', '/healthz')
    expect(headers['strict-transport-security']).toBe('max-age=31536000')
    seen.add(http)
  }
})

const answerTo = async (path: string, body: string) => (await caddy.ask('POST', path, body)).http

async function leaveOutFaulty() {
  faulty.fault = 'unready'
  let inRow = 0
  while (inRow < 10) {
    const before = faulty.requests.length
    await caddy.ask('GET', '/healthz')
    inRow = faulty.requests.length === before ? inRow + 1 : 0
    await sleep(20)
  }
}

test.skipIf(lacksCaddy)('a node that is not ready gets no request', async () => {
  await leaveOutFaulty()
  const before = faulty.requests.length
  for (let tries = 0; tries < 10; tries++) expect((await caddy.ask('POST', '/support', '{}')).http).toBe(401)
  expect(faulty.requests.length).toBe(before)
})

test.skipIf(lacksCaddy)('a logo reaches the dashboard, and no other path takes as much', async () => {
  await leaveOutFaulty()
  const logo = 'x'.repeat(256 * 1024)
  const { merchant_id } = merchant
  for (let tries = 0; tries < 10; tries++) {
    expect(await answerTo('/v1/refunds', logo)).toBe(413)
    expect(await answerTo('/dashboard/sign-in', 'x'.repeat(330 * 1024))).toBe(413)
    expect(await answerTo(`/dashboard/m/${merchant_id}/live/settings/logo`, logo)).toBe(303)
  }
})

test.skipIf(lacksCaddy)('a client with a broken request takes no node from the others', async () => {
  await leaveOutFaulty()
  for (let tries = 0; tries < 6; tries++) {
    const client = connect({ port: caddy.port, servername: 'pay.example', rejectUnauthorized: false })
    client.on('error', () => {})
    client.write('POST /v1/refunds HTTP/1.1\r\nhost: pay.example\r\ncontent-length: 100\r\n\r\nhalf')
    await sleep(50)
    client.destroy()
    await once(client, 'close')
    await answerTo('/v1/refunds', 'x'.repeat(100 * 1024))
    expect(await answerTo('/v1/refunds', '{}')).toBe(400)
  }
})

test.skipIf(lacksCaddy)('metrics and support are for the network of the operator', async () => {
  for (const path of [
    '/metrics',
    '/metrics/',
    '//metrics',
    '/Metrics',
    '/support',
    '/support/x',
    '/inbox',
    '/inbox/x',
  ])
    expect([path, (await caddy.ask('GET', path, undefined, { from: '127.0.0.2' })).http]).toEqual([path, 403])
  expect((await caddy.ask('GET', '/healthz', undefined, { from: '127.0.0.2' })).http).toBe(200)
})

test.skipIf(lacksCaddy)(
  'a page survives the death of a node, and no log has a token, query or key',
  async () => {
    const token = 'Zm9vYmFyYmF6cXV4MTIzNA'
    expect(
      await untilFaultyIsAsked('GET', `/checkout/${token}/state?secret=1`, () => undefined),
    ).not.toContain(502)
    await untilFaultyIsAsked('POST', `/checkout/${token}/step?secret=1`, () => '{}')
    const attempt = 'y'.repeat(36)
    await untilFaultyIsAsked('POST', `/callbacks/${attempt}`, () => undefined)
    const check = `/v1/gateway/json_status_chk?merchant_key=${merchant.test.merchant_key}&invoice_id=X`
    await caddy.ask('GET', check)
    expect(caddy.log()).toContain('"logger"')
    for (const secret of [token, attempt, 'secret=1', merchant.test.merchant_key])
      expect(caddy.log()).not.toContain(secret)
  },
)
