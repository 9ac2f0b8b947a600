import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { attemptsOf } from '../../../src/store/payments/attempts.ts'
import { eventsOf } from '../../../src/store/payments/events.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../../support/gateway/gateway.ts'
import { send } from '../../support/merchant/merchant.ts'
import { postForm, shopOf, wallet } from '../../support/checkout/stages.ts'

// "Wrong number?" and "Pay another way", pressed while the phone shows the request.
let gateway: TestGateway
let merchant: TestMerchant
let shop: ReturnType<typeof shopOf>

beforeAll(async () => {
  gateway = await testGateway()
  shop = shopOf(gateway)
  merchant = await shop.merchant('Ama Shop')
})
afterAll(() => gateway.stop())

const phone = '0244123456'

async function waiting(fields: Record<string, unknown> = {}) {
  const token = await shop.ask(merchant, fields)
  await shop.pay(token, wallet(phone))
  return token
}
const giveUp = (token: string, to: string, number = '1', headers: Record<string, string> = {}) =>
  send(shop.at(`${token}/give-up`), {
    method: 'POST',
    headers,
    body: new URLSearchParams({ for: to, number }),
  })
const page = async (token: string) => (await send(shop.at(token))).text
const attempts = async (token: string) =>
  attemptsOf(gateway.db, merchant.merchant_id, await shop.reference(token))
const kinds = async (token: string) =>
  (await eventsOf(gateway.db, merchant.merchant_id, await shop.reference(token))).map(
    ({ kind, to_status }) => to_status ?? kind,
  )

// The provider cannot withdraw: it answers automatically, later.
const cannotBeWithdrawn = async (token: string) =>
  gateway.db.rows(sql`
    update sandbox_charges set ending = 'no_callback' where reference = ${await shop.attempt(token)}`)

test('the waiting page has both, and explains that the old request still counts', async () => {
  const html = await page(await waiting())
  expect(html).toMatch(/name="for" value="number">Change</)
  expect(html).toMatch(/name="for" value="method">Choose</)
  expect(html).toContain('If the first request is approved after all, it counts, and nothing else is taken.')
  expect(html).toContain('href="tel:*170%23"')
  expect(html).toContain('Telecel Cash, AT Money, Card or GhQR.')
})

test('a wrong number: the same method is chosen, the number is empty, and the next one pays', async () => {
  const token = await waiting({ number: phone })
  const answer = await giveUp(token, 'number')
  expect([answer.http, answer.headers.get('location')]).toEqual([303, `/checkout/${token}`])
  const html = await page(token)
  expect(html).toContain('The old request has ended. Nothing was taken.')
  expect(html).toMatch(/id="mtn_mobile_money" value="mtn_mobile_money" checked/)
  expect(html).toContain('name="mtn_mobile_money.phone" value=""')
  expect(html).toContain('name="number" value="2"')
  await shop.pay(token, wallet('0240000000'), 2)
  await shop.until(token, 'paid')
  expect(await attempts(token)).toMatchObject([{ reason: 'withdrawn' }, { state: 'paid' }])
  expect((await kinds(token)).filter(kind => kind === 'failed')).toEqual([]) // the shop never heard of a failure
  expect(await kinds(token)).toContain('attempt_given_up')
})

test('another method: the list, with nothing chosen', async () => {
  const token = await waiting({ number: phone })
  await giveUp(token, 'method')
  const html = await page(token)
  expect(html).toContain('The old request has ended. Nothing was taken.')
  expect(html).not.toContain('checked')
})

for (const [what, to, number] of [
  ['of an old page', 'method', '2'],
  ['of no page', 'method', '0'],
  ['without a number', 'method', ''],
  ['for something else', 'money', '1'],
  ['for nothing', '', '1'],
] as const)
  test(`a form ${what} changes nothing`, async () => {
    const token = await waiting()
    expect((await giveUp(token, to, number)).http).toBe(303)
    expect(await attempts(token)).toMatchObject([{ state: 'pending', gave_up_at: null }])
  })

test('a form of another site changes nothing, and a reload of our form redirects to the payment', async () => {
  const token = await waiting()
  expect((await giveUp(token, 'method', '1', { 'sec-fetch-site': 'cross-site' })).http).toBe(403)
  expect(await attempts(token)).toMatchObject([{ gave_up_at: null }])
  const reloaded = await send(shop.at(`${token}/give-up`))
  expect([reloaded.http, reloaded.headers.get('location')]).toEqual([303, `/checkout/${token}`])
})

test('until the provider has ended it, the page explains what happens and until when', async () => {
  const token = await waiting()
  await cannotBeWithdrawn(token)
  const before = (await send(shop.at(`${token}/state`))).body
  await giveUp(token, 'number')
  const state = (await send(shop.at(`${token}/state`))).body
  expect(state.stage).toBe('wait')
  expect(state.version).not.toBe(before.version) // so that a page on another screen follows
  const html = await page(token)
  for (const words of [
    '<h1>The old request is ending</h1>',
    'We are ending the request to <strong class="whole">024 ••• 3456</strong>.',
    'If you approve it on that phone, it counts.',
    'Otherwise you can go on at about <time class="whole" datetime="',
    'This page updates by itself.',
    'Time left <b class="left">',
    'http-equiv="refresh" content="5;',
    `/checkout/${token}/cancel`,
  ])
    expect(html).toContain(words)
  expect(html).not.toContain('name="for"')
  expect((await shop.pay(token, wallet('0240000000'), 2)).http).toBe(303)
  expect(await attempts(token)).toHaveLength(1)
})

test('a request that is approved after it was given up is paid', async () => {
  const token = await waiting()
  await cannotBeWithdrawn(token)
  await giveUp(token, 'method')
  const reference = await shop.attempt(token)
  await gateway.db.rows(sql`
    update sandbox_charges set decided = 'person_approved', decided_at = now() where reference = ${reference}`)
  await postForm(`${gateway.url}/callbacks/${reference}`, {})
  await shop.until(token, 'paid')
  expect(await kinds(token)).toEqual([
    'attempt_started',
    'attempt_pending',
    'attempt_given_up',
    'attempt_paid',
    'paid',
  ])
})

test('a QR code or a card page offers another method, and no wrong number', async () => {
  for (const payment_method of ['card', 'ghqr']) {
    const token = await shop.ask(merchant)
    await shop.pay(token, { payment_method })
    const html = await page(token)
    expect(html).not.toContain('Wrong number')
    expect(html).toContain('Another way to pay')
    await giveUp(token, 'method')
    expect(await page(token)).toContain('The old request has ended.')
  }
})

test('after a return from the card page without a result, the page does not ask to pay', async () => {
  const token = await shop.ask(merchant)
  await shop.pay(token, { payment_method: 'card' })
  expect(await page(token)).toContain('Continue to the card page')
  await send(shop.at(`${token}?back=1`))
  const html = await page(token)
  expect(html).toContain('<h1>We are asking your bank</h1>')
  expect(html).toContain('Do not pay again')
  expect(html).not.toMatch(/Continue to the card page|btn wide big/)
  const unfinished = await send(shop.at(`${token}?unfinished=1`))
  expect(unfinished.text).toContain('Continue to the card page')
  expect(unfinished.text).toContain('Another way to pay')
})
