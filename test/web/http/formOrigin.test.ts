import assert from 'node:assert/strict'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operatorKeys } from '../../../src/core/operator/operatorKeys.ts'
import { createMetrics } from '../../../src/observe/metrics.ts'
import { createSandbox } from '../../../src/sandbox/sandbox.ts'
import { givenMasterKeys } from '../../../src/start/masterKeys.ts'
import { sql } from '../../../src/store/db.ts'
import { routesOf } from '../../../src/web/api/api.ts'
import { createApp } from '../../../src/web/app.ts'
import { signedIn } from '../../support/dashboard/signedIn.ts'
import { type TestGateway, testGateway, type TestMerchant } from '../../support/gateway/gateway.ts'
import { basic, dial } from '../../support/gateway/rawHttp.ts'
import { testRuntime } from '../../support/gateway/runtime.ts'
import { post, send, signedRequest } from '../../support/merchant/merchant.ts'

const supportToken = 'a password of sixteen'
const base = 'https://pay.example'
const evil = 'https://evil.example'

let gateway: TestGateway
let shop: TestMerchant
beforeAll(async () => {
  gateway = await testGateway(
    { TOLLGATE_SUPPORT_TOKEN: supportToken, TOLLGATE_BASE_URL: base },
    { sandboxPace: 0.1 },
  )
  shop = await gateway.addMerchant()
})
afterAll(() => gateway.stop())

type Headers = Record<string, string>
type Place = { path: string; fields: Record<string, string>; token: string }

// A form as bytes on a socket: no client adds headers of its own.
async function sendForm(path: string, fields: Record<string, string>, headers: Headers) {
  const { socket, heard, ended } = await dial(gateway.url)
  const body = new URLSearchParams(fields).toString()
  const head = {
    host: new URL(gateway.url).host,
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': String(body.length),
    connection: 'close',
    ...headers,
  }
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}`)
  socket.write([`POST ${path} HTTP/1.1`, ...lines, '', body].join('\r\n'))
  await ended
  return { http: Number(heard().slice(9, 12)), text: heard() }
}

const tokenIn = (html: string) => /name="form_token" value="([\w-]+)"/.exec(html)?.[1] ?? ''

async function newToken(fields: Record<string, unknown> = {}): Promise<string> {
  const { body, text } = await post(gateway.url, signedRequest(shop.test, fields))
  assert.ok(body.tx_token, text)
  return body.tx_token
}

// A page of each kind, and what its form sends: nothing that could not be sent once more.
const places: Record<string, { passed: number; open(): Promise<Place>; headers?: Headers }> = {
  checkout: {
    passed: 200,
    async open() {
      const path = `/checkout/${await newToken()}`
      const { text } = await send(gateway.url + path, { headers: { accept: 'text/html' } })
      return { path: `${path}/words?lang=en`, fields: { number: '1' }, token: tokenIn(text) }
    },
  },
  support: {
    passed: 409, // there is no address to send the notification to
    headers: { ...basic(`ama:${supportToken}`), 'user-agent': 'Mozilla/5.0' },
    async open() {
      const tx_token = await newToken()
      await send(`${gateway.url}/checkout/${tx_token}/cancel`, { method: 'POST' })
      const reference = await referenceOf(tx_token)
      const { text } = await send(`${gateway.url}/support?q=${reference}`, {
        headers: basic(`ama:${supportToken}`),
      })
      const seen = /name="seen" value="([^"]*)"/.exec(text)?.[1] ?? ''
      const fields = { merchant: shop.merchant_id, reference, sequence: '1', seen }
      return { path: '/support/redeliver', fields, token: tokenIn(text) }
    },
  },
  sandbox: {
    passed: 303,
    async open() {
      const tx_token = await newToken()
      const fields = {
        number: '1',
        payment_method: 'mtn_mobile_money',
        'mtn_mobile_money.phone': '0244123456',
      }
      await send(`${gateway.url}/checkout/${tx_token}/pay`, {
        method: 'POST',
        body: new URLSearchParams(fields),
      })
      const [attempt] = await gateway.db.rows<{ attempt_id: string }>(sql`
        select attempt_id from attempts where tx_reference = ${await referenceOf(tx_token)}`)
      const path = `/sandbox/phone/${attempt?.attempt_id}`
      return { path, fields: { decision: 'later' }, token: tokenIn((await send(gateway.url + path)).text) }
    },
  },
}

async function referenceOf(tx_token: string): Promise<string> {
  const found = await gateway.db.rows<{ tx_reference: string }>(
    sql`select tx_reference from payments where tx_token = ${tx_token}`,
  )
  return found[0]?.tx_reference ?? assert.fail()
}

// Whether a form passes without the token of its page, and with it.
const cases: readonly [headers: Headers, without: boolean, withToken: boolean][] = [
  // As browsers of today send it.
  [{ 'sec-fetch-site': 'same-origin', origin: 'null' }, true, true],
  [{ 'sec-fetch-site': 'same-origin' }, true, true],
  [{ 'sec-fetch-site': 'cross-site', origin: 'null' }, false, false],
  [{ 'sec-fetch-site': 'same-site', origin: 'null' }, false, false],
  [{ 'sec-fetch-site': 'cross-site', origin: evil }, false, false],
  [{ 'sec-fetch-site': 'cross-site', origin: base }, false, false],
  [{ 'sec-fetch-site': 'none' }, false, true],
  [{ 'sec-fetch-site': 'none', origin: 'null' }, false, true],
  [{ 'sec-fetch-site': 'sideways' }, false, false],
  // As older browsers do.
  [{ origin: 'null' }, false, true],
  [{}, false, true],
  [{ origin: base }, true, true],
  [{ origin: 'http://pay.example' }, true, true],
  [{ origin: 'https://PAY.example:443' }, true, true],
  [{ origin: base, host: 'internal:8080' }, true, true],
  [{ origin: 'http://HERE' }, true, true],
  [{ origin: 'https://HERE' }, true, true],
  [{ origin: 'https://second.example', host: 'SECOND.example:443' }, true, true],
  [{ origin: 'http://[::1]:8080', host: '[::1]:8080' }, true, true],
  [{ origin: 'https://pay.example:8443' }, false, false],
  [{ origin: evil }, false, false],
  [{ origin: `${base}.evil.example` }, false, false],
  [{ origin: `null\r\norigin: ${base}` }, false, false],
  [{ origin: 'nonsense' }, false, false],
]

for (const [name, { passed, open, headers: always }] of Object.entries(places))
  describe(`a form of ${name}`, () => {
    let place: Place
    let foreignToken: string // of another page of the same kind
    beforeAll(async () => {
      place = await open()
      foreignToken = (await open()).token
    })

    for (const [headers, without, withToken] of cases)
      test(`with ${JSON.stringify(headers)} ${without ? 'passes' : withToken ? 'needs the token' : 'is refused'}`, async () => {
        const { path, fields, token } = place
        const sent = { ...always, ...headers }
        if (sent.origin) sent.origin = sent.origin.replace('HERE', new URL(gateway.url).host)
        const press = (more: Record<string, string>) => sendForm(path, { ...fields, ...more }, sent)
        expect((await press({})).http, 'without a token').toBe(without ? passed : 403)
        expect((await press({ form_token: token })).http, 'with the token').toBe(withToken ? passed : 403)
        for (const form_token of ['', 'x', foreignToken, `${token}x`])
          expect((await press({ form_token })).http, `with ${form_token}`).toBe(without ? passed : 403)
      })

    test('that was refused leads back', async () => {
      const { http, text } = await sendForm(place.path, place.fields, { ...always, origin: evil })
      expect(http).toBe(403)
      expect(text).toContain('This did not come from our page')
      if (name === 'checkout')
        expect(text).toMatch(/<a class="btn[ \w]*" href="\/checkout\/[\w-]+\?lang=en">/)
      if (name === 'sandbox') expect(text).toContain(`<a class="btn wide" href="${place.path}">`)
    })
  })

describe('a program with the operator token', () => {
  const bearer = { authorization: `Bearer ${supportToken}` }
  for (const [how, headers, http] of [
    ['as a bearer token', bearer, 409],
    ['as a bearer token, with Origin: null', { ...bearer, origin: 'null' }, 409],
    ['as a bearer token, from another site', { ...bearer, origin: evil }, 403],
    ['as a wrong bearer token', { authorization: 'Bearer wrong' }, 401],
    ['as a password, from curl', { ...basic(`:${supportToken}`), 'user-agent': 'curl/8.5.0' }, 409],
    ['as a password, with Origin: null', { ...basic(`:${supportToken}`), origin: 'null' }, 403],
    [
      'as a password, from a browser that sends no Origin',
      { ...basic(`:${supportToken}`), 'user-agent': 'Mozilla/5.0' },
      403,
    ],
    ['as a password, with Sec-Fetch-Site', { ...basic(`:${supportToken}`), 'sec-fetch-site': 'none' }, 403],
  ] as const)
    test(`it is sent ${how}: ${http}`, async () => {
      const { path, fields } = await (places.support ?? assert.fail()).open()
      expect((await sendForm(path, fields, headers)).http).toBe(http)
    })
})

// Routes that take requests of other sites by design: a shop's form or server, a provider's callback.
const exempt = [
  '/v1/mobile_agents_v2',
  '/v1/gateway/json_status_chk',
  '/gateway/json_status_chk',
  '/v1/gateway/status_chk',
  '/gateway/status_chk',
  '/v1/refunds',
  '/v1/test/triggers',
  '/v1/test/clock',
  '/gateway',
  '/gateway/checkout',
  '/',
  '/callbacks/:attempt',
  '/callbacks/account/:webhook',
  '/callbacks/account/:webhook/*',
  '/sandbox/provider/charges', // for the gateway alone, by its key
  '/sandbox/provider/charges/:ref/withdraw',
  '/sandbox/provider/refunds',
  '/sandbox/*', // nothing is there
]

// Middleware is not a route.
const isMiddleware = (path: string, method: string) =>
  method === 'ALL' && path.endsWith('*') && path !== '/sandbox/*'

// Of the app as it is served, so that a new one is found.
function changingRoutes(): string[] {
  const runtime = testRuntime({ db: gateway.db, masterKeys: givenMasterKeys([]) })
  const { clock, formKey } = runtime
  const sandbox = createSandbox({ db: gateway.db, clock, key: 'x', formKey, baseUrl: base })
  sandbox.stop()
  const app = createApp({
    runtime,
    masterKeys: givenMasterKeys([]),
    providers: { accounts: () => [], setup: {} as never },
    role: 'all',
    isStopping: () => false,
    isOverloaded: () => false,
    metrics: createMetrics(),
    operatorKeys: operatorKeys('a stored token', undefined),
    sendToMerchant: () => Promise.reject(new Error('no route is called')),
    messageRules: { smsPrefixes: [], perRecipient: 1, perMerchant: 1 },
    isForThisMachineOnly: true,
    hasDemo: false,
    sandbox: sandbox.app,
    trustedProxies: 0,
    log: { error: () => {} } as never,
    observe: () => {},
  })
  const ofApp = app.routes
    .filter(({ method, path }) => !['GET', 'HEAD'].includes(method) && !isMiddleware(path, method))
    .map(({ path }) => path)
  const ofApi = [...routesOf({ runtime, baseUrl: () => base })]
    .filter(([, methods]) => Object.keys(methods).some(method => method !== 'GET'))
    .map(([path]) => path)
  return [...new Set([...ofApi, ...ofApp])]
}

describe('every route that changes something', () => {
  test('refuses a form of another site, but those that are exempt', async () => {
    const routes = changingRoutes()
    expect(exempt.filter(path => !routes.includes(path))).toEqual([])
    const guarded = routes.filter(path => !exempt.includes(path) && !path.startsWith('/dashboard'))
    expect(guarded.length).toBeGreaterThan(10)
    const tx_token = await newToken()
    const answers = await Promise.all(
      guarded.map(async route => {
        const path = route.replace(':token', tx_token).replace(':ref', 'm0m0m0m0m0attempt')
        const headers = { ...basic(`ama:${supportToken}`), origin: evil }
        const { http, text } = await sendForm(path, { form_token: 'x' }, headers)
        return [route, http, text.includes('This did not come from our page')]
      }),
    )
    expect(answers).toEqual(guarded.map(route => [route, 403, true]))
  })

  test('the same on the dashboard, with a session', async () => {
    const routes = changingRoutes().filter(path => path.startsWith('/dashboard'))
    const { cookie } = await signedIn(gateway, { operator: 'admin' })
    for (const route of routes) {
      const path = route
        .replace(':merchant', shop.merchant_id)
        .replace(/:mode\{[^}]*\}/, 'test')
        .replace(/:\w+/g, 'x')
      const headers = { cookie: `__Host-${cookie}`, origin: evil }
      const { http, text } = await sendForm(path, { form_token: 'x' }, headers)
      expect([route, http, text.includes('came from another page')]).toEqual([route, 403, true])
    }
  })

  for (const path of exempt)
    test(`${path} is exempt`, async () => {
      const address = path.replace(/:\w+/, 'x').replace('*', 'x')
      expect((await sendForm(address, {}, { origin: evil })).http).not.toBe(403)
    })

  test('a shop elsewhere can still send its customer here by a form', async () => {
    const fields = Object.fromEntries(
      Object.entries(signedRequest(shop.test)).map(([field, value]) => [field, String(value)]),
    )
    for (const path of ['/', '/gateway', '/gateway/checkout'])
      for (const headers of [
        { origin: evil, 'sec-fetch-site': 'cross-site' },
        { origin: 'null' },
      ] as Headers[])
        expect((await sendForm(path, fields, headers)).http).toBe(303)
  })
})
