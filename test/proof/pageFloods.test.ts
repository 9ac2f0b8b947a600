import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestGateway, type TestMerchant, testGateway } from '../support/gateway/gateway.ts'
import { checkStatus, post, send, signedRequest } from '../support/merchant/merchant.ts'

let gateway: TestGateway
let shop: TestMerchant
let isOverloaded = false
const metricsToken = 'a-token-of-enough-letters'

beforeAll(async () => {
  gateway = await testGateway(
    { TOLLGATE_TRUST_PROXY: '1', TOLLGATE_METRICS_TOKEN: metricsToken },
    { isOverloaded: () => isOverloaded },
  )
  shop = await gateway.addMerchant()
})
afterAll(() => gateway.stop())

const from = (address: string, url: string) =>
  send(url, { headers: { 'x-forwarded-for': address, 'accept-language': 'fr' } })
const many = <T>(n: number, ask: () => Promise<T>) => Promise.all(Array.from({ length: n }, ask))
const httpOf = (answers: { http: number }[]) =>
  [...new Set(answers.map(({ http }) => http))].sort((one, other) => one - other)

// A machine that takes longer for it than the limit takes to come back refuses nobody: then from another address.
async function flood(network: string, page: () => string) {
  for (let tries = 1; ; tries++) {
    const address = `${network}.${100 + tries}`
    const started = performance.now()
    const unknown = await many(200, () => from(address, gateway.url + page()))
    const gained = ((performance.now() - started) / 1000) * 20
    if (gained < 100 || tries === 5) return { unknown, gained, address }
  }
}

let guesses = 0
const guess = () => `${shop.merchant_id}${String(++guesses).padStart(32, 'z')}`

for (const [what, network, page] of [
  ['well-formed', '192.0.2', () => `/checkout/${guess()}`],
  ['of no form', '198.51.100', () => '/checkout/nothing'],
  ['asked for their state', '203.0.113', () => `/checkout/${guess()}/state`],
] as const) {
  test(`an address has a hundred unknown tokens (${what}), and known ones pass from there`, async () => {
    const { checkout_url } = (await post(gateway.url, signedRequest(shop.test))).body
    const { unknown, gained, address } = await flood(network, page)
    expect(httpOf(unknown)).toEqual([404, 429])
    const passed = unknown.filter(({ http }) => http === 404).length
    expect(passed).toBeGreaterThanOrEqual(100)
    expect(passed).toBeLessThanOrEqual(100 + gained)
    const refused = unknown.find(({ http }) => http === 429)
    expect(refused?.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    expect(refused?.text).toContain('<html lang="fr"')
    expect(refused?.text).toContain('Rechargez cette page')
    const [, known] = await Promise.all([
      many(100, () => from(address, gateway.url + page())),
      many(100, () => from(address, checkout_url)),
    ])
    expect(httpOf(known)).toEqual([200])
    expect((await from('192.0.2.200', gateway.url + page())).http).toBe(404)
  })
}

test('a picture is drawn of a token, and of nothing else', async () => {
  const { checkout_url } = (await post(gateway.url, signedRequest(shop.test))).body
  expect((await from('192.0.2.4', `${checkout_url}/qr.svg`)).text).toContain('class="qr"')
  for (const token of ['x'.repeat(900), 'nothing', `${guess()}0`, '%2e%2e']) {
    const answer = await from('192.0.2.4', `${gateway.url}/checkout/${token}/qr.svg`)
    expect([answer.http, answer.text.includes('class="qr"')]).toEqual([404, false])
  }
})

test('under overload documents wait, and payments do not', async () => {
  const request = signedRequest(shop.test)
  const { checkout_url } = (await post(gateway.url, request)).body
  const { merchant_key } = shop.test
  const script = /src="(\/public\/[^"]+)"/.exec((await send(checkout_url)).text)?.[1] ?? ''
  const documents = [
    '/docs',
    '/docs/interface',
    '/docs/api',
    '/docs?q=signature',
    '/docs/try.js',
    '/openapi.json',
    '/llms.txt',
  ]
  const headers = { authorization: `Bearer ${metricsToken}` }
  const ask = (paths: string[]) => Promise.all(paths.map(path => send(gateway.url + path, { headers })))
  isOverloaded = true
  for (const { http, headers: got, body } of await ask(documents)) {
    expect([http, body.error.code]).toEqual([503, 'busy'])
    expect(got.get('retry-after')).toMatch(/^[1-9]\d*$/)
  }
  expect(httpOf(await ask(['/public/checkout.css', script, '/healthz', '/readyz', '/metrics']))).toEqual([
    200,
  ])
  expect((await send(checkout_url)).http).toBe(200)
  expect((await checkStatus(gateway.url, { merchant_key, invoice_id: request.invoice_id })).http).toBe(200)
  expect((await post(gateway.url, signedRequest(shop.test))).http).toBe(200)
  isOverloaded = false
  expect(httpOf(await ask(documents))).toEqual([200])
})
