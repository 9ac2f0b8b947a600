import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkDashboard } from '../../../src/cli/doctor/checkAddresses.ts'
import { readConfig, readValidConfig } from '../../../src/config.ts'
import { demoId, welcome } from '../../../src/actions/merchants/onboard.ts'
import { setLogo } from '../../../src/actions/merchants/logos.ts'
import { type DashboardClient, formTokenIn, signedIn } from '../../support/dashboard/signedIn.ts'
import { type TestGateway, testGateway } from '../../support/gateway/gateway.ts'
import { post, send, signedRequest } from '../../support/merchant/merchant.ts'
import { plainPng } from '../../support/merchant/pictures.ts'

let apart: TestGateway
let shared: TestGateway
let dashboardUrl: string
beforeAll(async () => {
  ;[apart, shared] = await Promise.all([
    testGateway({ TOLLGATE_DASHBOARD_PORT: '0' }, { hasDemo: true }),
    testGateway(),
  ])
  await welcome(apart.db, apart.masterKeys, new Date())
  dashboardUrl = new URL(await apart.supportLink()).origin
})
afterAll(() => Promise.all([apart.stop(), shared.stop()]))

const at = (url: string, client: DashboardClient, path: string, init: RequestInit = {}) =>
  fetch(`${url}${path}`, {
    redirect: 'manual',
    ...init,
    headers: { accept: 'text/html', origin: url, cookie: client.cookie },
  })

test('the link of the terminal leads there, with the demo, and the shop leads there, too', async () => {
  const entered = await send(await apart.supportLink())
  expect([entered.http, entered.headers.get('location')]).toEqual([303, '/dashboard/first-visit'])
  expect(entered.headers.getSetCookie().some(line => line.startsWith('tollgate_session='))).toBe(true)
  const shop = await send(`${apart.url}/shop/merchant`)
  expect(shop.headers.get('location')).toBe(`${dashboardUrl}/dashboard/m/${demoId}/test/payments`)
})

test('a dashboard with a port of its own is served there only', async () => {
  expect(dashboardUrl).not.toBe(apart.url)
  const owner = await signedIn(apart, { member: { merchant_id: demoId, role: 'owner' } })
  expect((await at(dashboardUrl, owner, '/dashboard/account')).status).toBe(200)
  expect((await at(apart.url, owner, '/dashboard/account')).status).toBe(404)
  expect((await at(apart.url, owner, '/dashboard/dashboard.css')).status).toBe(404)
  const page = await (await at(dashboardUrl, owner, '/dashboard/account')).text()
  const body = new URLSearchParams({ name: 'Esi', lang: 'en', form_token: formTokenIn(page) })
  const saved = await at(dashboardUrl, owner, '/dashboard/account/profile', { method: 'POST', body })
  expect([saved.status, saved.headers.get('location')]).toEqual([303, '/dashboard/account?done=saved'])
  const page2 = await (await at(dashboardUrl, owner, '/dashboard/account')).text()
  const foreign = new URLSearchParams({ name: 'Eve', lang: 'en', form_token: formTokenIn(page2) })
  const fromCheckout = await fetch(`${dashboardUrl}/dashboard/account/profile`, {
    method: 'POST',
    body: foreign,
    headers: { accept: 'text/html', origin: apart.url, cookie: owner.cookie },
  })
  expect(fromCheckout.status).toBe(403) // the default address is another site
})

test('its address serves no API, checkout or callbacks, and leads to what belongs to customers', async () => {
  const merchant = await apart.addMerchant()
  const request = signedRequest(merchant.test)
  expect((await post(dashboardUrl, request)).http).toBe(404)
  const { body } = await post(apart.url, request)
  const { pathname } = new URL(body.checkout_url)
  expect(body.checkout_url.startsWith(apart.url)).toBe(true)
  const led = await send(`${dashboardUrl}${pathname}`)
  expect([led.http, led.headers.get('location')]).toEqual([303, body.checkout_url])
  expect((await send(`${dashboardUrl}/callbacks/none`, { method: 'POST' })).http).toBe(404)
  for (const [path, http] of [
    ['/', 303],
    ['/docs', 200],
    ['/healthz', 200],
    ['/support', 401],
  ] as const)
    expect([path, (await send(dashboardUrl + path)).http]).toEqual([path, http])
})

for (const [env, fault] of [
  [
    { TOLLGATE_DASHBOARD_URL: 'https://admin.pay.example' },
    /TOLLGATE_DASHBOARD_URL: set TOLLGATE_DASHBOARD_PORT/,
  ],
  [
    { PORT: '8080', TOLLGATE_DASHBOARD_PORT: '8080' },
    /TOLLGATE_DASHBOARD_PORT: 127.0.0.1 port 8080 is the address/,
  ],
  [{ TOLLGATE_DASHBOARD_PORT: '70000' }, /TOLLGATE_DASHBOARD_PORT: must be from 0 to 65535/],
  [{ TOLLGATE_DASHBOARD_PORT: '8090', TOLLGATE_DASHBOARD_URL: 'https://a.example/x' }, /without a path/],
] as const)
  test(`${JSON.stringify(env)} is refused`, () => {
    expect(readValidConfig(env).faults.join()).toMatch(fault)
  })

test('a dashboard that others reach is not for this machine only', () => {
  expect(readValidConfig({ TOLLGATE_DASHBOARD_PORT: '8090' }).config.isForThisMachineOnly).toBe(true)
  for (const env of [
    { TOLLGATE_DASHBOARD_HOST: '0.0.0.0' },
    { TOLLGATE_DASHBOARD_PORT: '8090', TOLLGATE_DASHBOARD_URL: 'https://admin.pay.example' },
  ])
    expect(readValidConfig(env).config.isForThisMachineOnly).toBe(false)
})

// Where the dashboard shares the address with what merchants supply.
test('a logo and a colour load, run and frame nothing', async () => {
  const merchant = await shared.addMerchant('accent=#0b6b4f')
  await setLogo(shared.db, merchant.merchant_id, plainPng(64), new Date())
  const { body } = await post(shared.url, signedRequest(merchant.test))
  const { text } = await send(body.checkout_url)
  const paths = [...text.matchAll(/(?:src|href)="(\/public\/(?:logos|accent)\/[^"]+)"/g)].map(
    ([, path]) => path ?? '',
  )
  expect(paths.length).toBeGreaterThanOrEqual(2)
  for (const path of paths) {
    const { headers } = await send(shared.url + path)
    expect(headers.get('content-type')).toMatch(/^(image\/(png|jpeg)|text\/css; charset=utf-8)$/)
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'")
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
  }
})

test('a page of the dashboard cannot be framed, and the name of a merchant is text', async () => {
  const merchant = await shared.addMerchant()
  await shared.db.rows({
    text: 'update merchants set name = $1 where merchant_id = $2',
    values: [markup, merchant.merchant_id],
  } as never)
  const owner = await signedIn(shared, { member: { merchant_id: merchant.merchant_id, role: 'owner' } })
  const answer = await owner.get('/dashboard/places')
  expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  expect(answer.headers.get('x-frame-options')).toBe('DENY')
  const html = await answer.text()
  expect(html).not.toContain('<script>alert')
  expect(html).toContain('&lt;script&gt;alert')
})

const markup = '"><script>alert(1)</script>'

test('doctor recommends an address of its own in live mode', async () => {
  const { db } = shared
  const reachable = { HOST: '0.0.0.0', TOLLGATE_BASE_URL: 'https://pay.example' }
  const stateOf = async (env: Record<string, string>) => (await checkDashboard(db, readConfig(env))).state
  await shared.addMerchant() // with a live key
  expect(await stateOf(reachable)).toBe('warning')
  expect(await stateOf({})).toBe('ok') // a developer's own
  expect(await stateOf({ ...reachable, TOLLGATE_DASHBOARD_PORT: '8090' })).toBe('ok')
})
