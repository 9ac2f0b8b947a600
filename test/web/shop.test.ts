import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { demoId, onboard, welcome } from '../../src/actions/merchants/onboard.ts'
import sandbox from '../../src/providers/sandbox.ts'
import { sql } from '../../src/store/db.ts'
import { setActive } from '../../src/store/merchants/merchants.ts'
import { endings } from '../../examples/shop/shop.js'
import { payOnPage } from '../support/merchant/sdkClient.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'sec-fetch-site': 'same-origin' }
let gateway: TestGateway
beforeAll(async () => {
  gateway = await testGateway({ TOLLGATE_EGRESS_LOOPBACK: 'on' }, { sandboxPace: 0.05 })
  await onboard(gateway.db, gateway.masterKeys, 'Demo Shop', ['test'], new Date(), demoId)
})
afterAll(() => gateway.stop())

type Visit = { cookie: string; order: string; checkout: string }

async function buy(fields: Record<string, string> = {}, headers: Record<string, string> = {}) {
  return fetch(`${gateway.url}/shop/buy`, {
    method: 'POST',
    headers: { ...browser, ...headers },
    body: new URLSearchParams({ article: 'hat', ending: 'paid', ...fields }),
    redirect: 'manual',
  })
}

async function visit(fields?: Record<string, string>): Promise<Visit> {
  const answer = await buy(fields)
  expect(answer.status).toBe(303)
  const cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const order = cookie.split('.').at(-1) ?? ''
  return { cookie, order, checkout: gateway.url + (answer.headers.get('location') ?? '') }
}

const read = async (path: string, cookie = '') => {
  const answer = await fetch(gateway.url + path, { headers: { ...browser, cookie }, redirect: 'manual' })
  return { http: answer.status, headers: answer.headers, text: await answer.text() }
}
const stepsOf = (text: string) =>
  [...text.matchAll(/<li class="(\w+)">.*?<span class="sr">[^<]*<\/span>([^<]*)</gs)].map(
    ([, state, what]) => `${state}: ${what}`,
  )

test('the first address sells three articles, with pictures, without a script', async () => {
  const { http, headers, text } = await read('/')
  expect([http, headers.get('cache-control')]).toEqual([200, 'no-store'])
  expect(headers.get('content-security-policy')).toContain("script-src 'self'")
  for (const words of ['Straw hat', 'Kente scarf', 'Shea butter', 'GHS 18.50', 'How should it end?'])
    expect(text).toContain(words)
  expect(text).not.toMatch(/<script>|style=/)
  for (const [, path = ''] of text.matchAll(/(?:src|href)="(\/(?:shop|public)[^"]*)"/g))
    expect([path, (await read(path.replaceAll('&amp;', '&'))).http]).toEqual([
      path,
      path === '/shop/merchant' ? 303 : 200,
    ])
})

test('programs and old forms get what they always got', async () => {
  const json = await fetch(gateway.url, { headers: { accept: 'application/json' } })
  expect(json.status).toBe(404)
  const form = await fetch(`${gateway.url}/?merchant_key=nobody`, { headers: browser })
  expect([form.status, await form.text()]).not.toEqual([200, expect.stringContaining('Straw hat')])
})

const asMerchant = async (cookie?: string) => (await read('/shop/merchant', cookie)).headers.get('location')

test('"See it as the merchant" leads to the payment just made, for the browser that has bought', async () => {
  const { cookie, order } = await visit()
  const found = sql`select tx_reference from payments where invoice_id = ${order}`
  const payment = await gateway.db.one<{ tx_reference: string }>(found)
  const payments = '/dashboard/m/demoshop00/test/payments'
  expect(await asMerchant(cookie)).toBe(`${payments}/${payment?.tx_reference}`)
  expect(await asMerchant()).toBe(payments)
})

test('every step of a purchase is shown, until the shop is notified and the messages are sent', async () => {
  const { cookie, order, checkout } = await visit()
  const before = await read(`/shop/steps?order=${order}`, cookie)
  expect(stepsOf(before.text).slice(0, 3)).toEqual([
    'done: Payment requested',
    'now: Checkout opened',
    'todo: Provider asked',
  ])
  expect(before.text).toMatch(/answered 200 in \d+ ms/)
  expect(before.text).toContain(`invoice_id=${order}&amp;<wbr/>merchant_key=tk_`)
  expect(before.text).toContain('curl -sS &#39;')
  await payOnPage(checkout, '0240000000')
  await expect
    .poll(async () => stepsOf((await read(`/shop/steps?order=${order}`, cookie)).text))
    .toEqual([
      'done: Payment requested',
      'done: Checkout opened',
      'done: MTN asked',
      'done: Approved on the phone',
      'done: Paid',
      'done: Shop notified',
      'done: SMS and email sent',
    ])
  const { text } = await read(`/?order=${order}`, cookie)
  expect(text).toMatch(/Signature verified<\/span>, 200 in \d+ ms/)
  expect(text).toContain('webhook-signature: v1,')
  expect(text).toContain('Paid. Thank you')
  expect(text).not.toContain('http-equiv="refresh"')
  await gateway.db.rows(sql`delete from messages`) // as in the moment before they are stored
  const again = (await read(`/?order=${order}`, cookie)).text
  const [, next] = /http-equiv="refresh" content="5; url=([^"]*)"/.exec(again) ?? []
  expect(next).toMatch(/^\/\?order=[\w-]+&amp;at=\d+#happens$/) // another address, so that the browser reads it again
})

test('the curl command of the panel gives the same payment', async () => {
  const { cookie, order, checkout } = await visit()
  const { text } = await read(`/shop/steps?order=${order}`, cookie)
  const [, body = ''] = /-d &#39;(\{.*?\n {2}\})&#39;/s.exec(text) ?? []
  const sent = await fetch(`${gateway.url}/v1/mobile_agents_v2`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: body.replaceAll('&quot;', '"').replaceAll('&amp;', '&'),
  })
  const answer = (await sent.json()) as { checkout_url?: string }
  expect([sent.status, answer.checkout_url]).toEqual([200, checkout])
})

const press = (order: string, cookie: string) =>
  fetch(`${gateway.url}/shop/refund?order=${order}`, {
    method: 'POST',
    headers: { ...browser, cookie },
    redirect: 'manual',
  })

describe('a paid order', () => {
  test('is refunded once, however often the button is pressed, and the panel shows it', async () => {
    const { cookie, order, checkout } = await visit()
    const unpaid = await press(order, cookie)
    expect(unpaid.status).toBe(303)
    await payOnPage(checkout, '0240000000')
    await expect.poll(async () => (await read(`/?order=${order}`, cookie)).text).toContain('Refund it')
    const pressed = await Promise.all([press(order, cookie), press(order, cookie), press(order, cookie)])
    expect(pressed.map(({ status }) => status)).toEqual([303, 303, 303])
    await expect
      .poll(async () => stepsOf((await read(`/shop/steps?order=${order}`, cookie)).text).slice(-2))
      .toEqual(['done: Refund requested', 'done: Refunded'])
    const { text } = await read(`/?order=${order}`, cookie)
    expect(text).toContain('The shop has returned GHS 25.00.')
    expect(text).not.toContain('Refund it')
    expect(text).toContain(`amount=25.00&amp;<wbr/>invoice_id=${order}`)
    const [count] = await gateway.db.rows<{ count: bigint }>(
      sql`select count(*) from refunds where invoice_id = ${order}`,
    )
    expect(count?.count).toBe(1n)
  })

  test("of another visitor cannot be refunded, and another site's form is refused", async () => {
    const [ama, kofi] = [await visit(), await visit()]
    await payOnPage(ama.checkout, '0240000000')
    expect((await press(ama.order, kofi.cookie)).headers.get('location')).toBe('/')
    const foreign = await fetch(`${gateway.url}/shop/refund?order=${ama.order}`, {
      method: 'POST',
      headers: { ...browser, cookie: ama.cookie, 'sec-fetch-site': 'cross-site' },
    })
    expect(foreign.status).toBe(403)
    const rows = await gateway.db.rows(sql`select from refunds where invoice_id = ${ama.order}`)
    expect(rows).toEqual([])
  })
})

describe('a visitor sees only own orders', () => {
  test('not with another cookie, and not without one', async () => {
    const [ama, kofi] = [await visit(), await visit({ article: 'scarf' })]
    expect(ama.cookie).not.toBe(kofi.cookie)
    for (const cookie of ['', kofi.cookie, `${kofi.cookie.split('.')[0]}.${ama.order}`]) {
      const { text } = await read(`/shop/steps?order=${ama.order}`, cookie)
      expect(text).not.toContain(ama.order)
      expect(text).not.toContain(ama.checkout.split('/').at(-1))
    }
    const back = await read(`/shop/return?order=${ama.order}`, kofi.cookie)
    expect([back.http, back.headers.get('location')]).toEqual([303, '/'])
    expect((await read('/', ama.cookie)).text).toContain(ama.order)
  })

  test('the cookie is not for scripts and not for other sites', async () => {
    const set = (await buy()).headers.get('set-cookie') ?? ''
    expect(set).toMatch(/^tollgate_shop=[\w-]{32}\.DEMO-\w{12};/)
    expect(set).toMatch(/HttpOnly/)
    expect(set).toMatch(/SameSite=Lax/)
  })

  test('orders of other merchants and live payments are never found', async () => {
    const { cookie } = await visit()
    const other = await gateway.addMerchant()
    for (const order of [other.merchant_id, '../../x', "' or 1=1", 'x'.repeat(200)]) {
      const { http, text } = await read(`/shop/steps?order=${encodeURIComponent(order)}`, cookie)
      expect([http, text.includes('Nothing is bought yet.')]).toEqual([200, true])
    }
  })
})

test('a form of another site, or without proof, buys nothing', async () => {
  expect((await buy({}, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  expect((await buy({}, { 'sec-fetch-site': 'none' })).status).toBe(403)
  const [, token = ''] = /name="form_token" value="([^"]+)"/.exec((await read('/')).text) ?? []
  expect((await buy({ form_token: token }, { 'sec-fetch-site': 'none' })).status).toBe(303)
  expect((await buy({ article: 'car' })).status).toBe(422)
})

test('a forged notification changes nothing', async () => {
  const { cookie, order } = await visit()
  const forged = await fetch(`${gateway.url}/shop/ipn`, {
    method: 'POST',
    headers: { 'webhook-id': 'x', 'webhook-timestamp': '1', 'webhook-signature': 'v1,x' },
    body: JSON.stringify({ invoice_id: order, status: 'paid' }),
  })
  expect(forged.status).toBe(401)
  expect((await read(`/?order=${order}`, cookie)).text).not.toContain('Thank you')
})

for (const [ending, last] of [
  ['declined', 'no: Declined on the phone'],
  ['no_money', 'no: Not enough money in the wallet'],
] as const)
  test(`the ending ${ending} is what the customer's number leads to`, async () => {
    const { cookie, order, checkout } = await visit({ ending })
    const digits = endings.find(({ id }) => id === ending)?.digits
    await payOnPage(checkout, `0241234${digits}`)
    await expect
      .poll(async () => stepsOf((await read(`/shop/steps?order=${order}`, cookie)).text))
      .toContain(last)
  })

test('the endings of the shop are those of the sandbox', () => {
  const { testEndings } = sandbox.open({ url: 'http://127.0.0.1', key: 'x' }, {} as never)
  const numberOf = (ending: string) => testEndings?.find(({ name }) => name === ending)?.input.phone
  for (const { id, digits } of endings.slice(1)) expect([id, numberOf(id)?.slice(-3)]).toEqual([id, digits])
})

test('the code of the shop can be read', async () => {
  const { http, text } = await read('/shop/code')
  expect([http, text.includes('export function createShop')]).toEqual([200, true])
})

test('without an active demo merchant there is no shop, but what this is and whom to ask', async () => {
  await setActive(gateway.db, demoId, false)
  await expect.poll(async () => (await read('/')).text).toContain('the operator of this gateway')
  expect((await read('/shop/code')).http).toBe(404)
  expect((await buy()).status).toBe(404)
  await setActive(gateway.db, demoId, true)
})

test('the demo merchant of a new gateway opens the shop', async () => {
  const other = await testGateway()
  await welcome(other.db, other.masterKeys, new Date())
  expect(await (await fetch(other.url, { headers: browser })).text()).toContain('Straw hat')
  await other.stop()
})
