import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { attemptsOf } from '../../../src/store/payments/attempts.ts'
import { eventsOf } from '../../../src/store/payments/events.ts'
import { openPaystack, type PaystackSimulator } from '../../simulators/paystack/paystack.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../../support/gateway/gateway.ts'
import { send } from '../../support/merchant/merchant.ts'
import { postForm, shopOf, wallet } from '../../support/checkout/stages.ts'

// Input that a provider requires after the start.
let gateway: TestGateway
let paystack: PaystackSimulator
let merchant: TestMerchant
let shop: ReturnType<typeof shopOf>

beforeAll(async () => {
  paystack = await openPaystack()
  gateway = await testGateway({ PAYSTACK_SECRET_KEY: 'sk_test_simulated', PAYSTACK_URL: paystack.url })
  shop = shopOf(gateway)
  merchant = await shop.merchant('Ama Shop', 'providers=paystack')
})
afterAll(async () => {
  await gateway?.stop()
  await paystack?.stop()
})

const code = '123456'
let numbers = 0

// A wallet for which the provider requires a code.
async function atStep(asks = 'send_otp') {
  const number = `0247${String(++numbers).padStart(6, '0')}`
  paystack.rule({ number, story: { asks } })
  const token = await shop.ask(merchant, { email: 'kofi@example.test' })
  await shop.pay(token, wallet(number))
  await shop.until(token, 'step')
  return token
}

const page = async (token: string) => (await send(shop.at(token))).text
const attempts = async (token: string) =>
  attemptsOf(gateway.db, merchant.merchant_id, await shop.reference(token))
const tries = async (token: string) => {
  const attempt_id = await shop.attempt(token)
  return paystack.book().find(({ reference }) => reference === attempt_id)?.tries
}
const type = (token: string, input: Record<string, string>, headers: Record<string, string> = {}) =>
  send(shop.at(`${token}/step`), {
    method: 'POST',
    headers,
    body: new URLSearchParams({ number: '1', submits: '0', ...input }),
  })
const isHome = ({ http, headers }: { http: number; headers: Headers }, token: string) =>
  expect([http, headers.get('location')]).toEqual([303, `/checkout/${token}`])

test('the page asks in its own words, polls and does not reload itself', async () => {
  const html = await page(await atStep())
  expect(html).toContain('The code that was sent to you')
  expect(html).not.toContain('Please enter the code that was sent to your phone')
  expect(html).toContain('Never type your wallet’s PIN here.')
  expect(html).toMatch(/<input id="otp" name="otp" value="" [^>]*autocomplete="one-time-code"/)
  expect(html).toContain('data-poll="2"')
  expect(html).not.toContain('http-equiv="refresh"')
})

test('a code is sent to the provider, once, and stored nowhere', async () => {
  const token = await atStep()
  isHome(await type(token, { otp: ' 123 456 ' }), token)
  expect(await attempts(token)).toMatchObject([{ state: 'pending', step: null, submits: 1 }])
  expect(await tries(token)).toBe(1)
  const events = await eventsOf(gateway.db, merchant.merchant_id, await shop.reference(token))
  expect(events.map(({ kind }) => kind)).toContain('attempt_submitted')
  const kept = JSON.stringify([events, await attempts(token)], (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  for (const text of [kept, gateway.logs.join('\n')]) expect(text).not.toMatch(/123 ?456/)
})

test('after a wrong code the step is shown again, and the old page submits nothing', async () => {
  const token = await atStep()
  isHome(await type(token, { otp: '111111' }), token)
  const html = await page(token)
  expect(html).toContain('asks again')
  expect(html).not.toContain('Provided registration token is invalid')
  expect(html).toContain('name="submits" value="1"')
  expect(html).not.toContain('111111')
  isHome(await type(token, { otp: code }), token)
  expect(await tries(token)).toBe(1)
  await gateway.db.rows(sql`
    update attempts set submitted_at = submitted_at - interval '5 seconds'
    where attempt_id = ${await shop.attempt(token)}`) // the next code has to wait
  isHome(await type(token, { otp: code, submits: '1' }), token)
  expect(await tries(token)).toBe(2)
  expect(await attempts(token)).toMatchObject([{ state: 'pending', submits: 2 }])
})

test('ten submissions at once are one', async () => {
  const token = await atStep()
  const answers = await Promise.all(Array.from({ length: 10 }, () => type(token, { otp: code })))
  for (const answer of answers) isHome(answer, token)
  expect(await tries(token)).toBe(1)
})

for (const [what, typed, words] of [
  ['nothing', '', 'please fill this in.'],
  ['letters', 'I23456', 'use digits only.'],
  ['too much', '1234567890123', 'this is too long.'],
  ['markup', '"><script>', 'use digits only.'],
] as const)
  test(`${what} in place of a code is shown with its fault, without the input`, async () => {
    const token = await atStep()
    const { http, text } = await type(token, { otp: typed })
    expect(http).toBe(422)
    expect(text).toContain(`The code that was sent to you: ${words}`)
    expect(text).toMatch(/<title>Check the form · One more step/)
    expect(text).toMatch(/<input id="otp" name="otp" value="" aria-invalid="true"/)
    expect(text).toContain('name="submits" value="0"')
    if (typed) expect(text).not.toContain(typed)
    expect(await attempts(token)).toMatchObject([{ state: 'needs_input', submits: 0 }])
    expect(await tries(token)).toBe(0)
  })

test('a field that is not a code keeps its input', async () => {
  const token = await atStep('send_birthday')
  const { http, text } = await type(token, { birthday: '31 March' })
  expect(http).toBe(422)
  expect(text).toContain('Your date of birth: this is not a date.')
  expect(text).toContain('value="31 March"')
})

test('a form without its number, of another attempt, or with more than it asks for', async () => {
  const token = await atStep()
  const odd: Record<string, string>[] = [{ number: '' }, { number: '2' }, { submits: 'x' }, { submits: '-1' }]
  for (const changed of odd) isHome(await type(token, { otp: code, ...changed }), token)
  expect(await tries(token)).toBe(0)
  isHome(await type(token, { otp: code, payment_method: 'card', phone: '0244123456' }), token)
  expect(await attempts(token)).toMatchObject([{ payment_method: 'mtn_mobile_money', submits: 1 }])
})

for (const site of ['cross-site', 'same-site'])
  test(`a form of another site (${site}) submits nothing`, async () => {
    const token = await atStep()
    const { http } = await type(token, { otp: code }, { 'sec-fetch-site': site })
    expect(http).toBe(403)
    expect(await tries(token)).toBe(0)
    isHome(await type(token, { otp: code }, { 'sec-fetch-site': 'same-origin' }), token)
    expect(await tries(token)).toBe(1)
  })

test('without a step, and by GET, it redirects to the payment', async () => {
  const token = await atStep()
  isHome(await send(shop.at(`${token}/step`)), token)
  const fresh = await shop.ask(merchant)
  isHome(await type(fresh, { otp: code }), fresh)
  expect((await send(shop.at('no-such-payment/step'), { method: 'POST' })).http).toBe(404)
})

test('after giving up or cancelling at the step, the page has no form', async () => {
  const given = await atStep()
  await postForm(shop.at(`${given}/give-up`), { for: 'method', number: '1' })
  expect((await send(shop.at(`${given}/state`))).body.stage).toBe('wait')
  isHome(await type(given, { otp: code }), given)
  expect(await tries(given)).toBe(0)

  const cancelled = await atStep()
  await postForm(shop.at(`${cancelled}/cancel`), {})
  isHome(await type(cancelled, { otp: code }), cancelled)
  expect(await tries(cancelled)).toBe(0)
  expect(await page(cancelled)).toContain('If the money still arrives, it counts as paid')
})
