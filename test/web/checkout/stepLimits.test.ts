import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from '../../../src/store/db.ts'
import { attemptsOf } from '../../../src/store/payments/attempts.ts'
import { openPaystack, type PaystackSimulator } from '../../simulators/paystack/paystack.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../../support/gateway/gateway.ts'
import { send } from '../../support/merchant/merchant.ts'
import { postForm, shopOf, wallet } from '../../support/checkout/stages.ts'

// How often a code may be submitted, by two gateways on one database, and what the refusal of a submission affects.
let gateway: TestGateway
let other: TestGateway
let paystack: PaystackSimulator
let merchant: TestMerchant
let shop: ReturnType<typeof shopOf>

beforeAll(async () => {
  paystack = await openPaystack()
  const env = {
    TOLLGATE_MASTER_KEY: randomBytes(32).toString('hex'),
    PAYSTACK_SECRET_KEY: 'sk_test_simulated',
    PAYSTACK_URL: paystack.url,
  }
  gateway = await testGateway(env)
  other = await testGateway(env, {}, { url: gateway.databaseUrl, drop: async () => {} })
  shop = shopOf(gateway)
  merchant = await shop.merchant('Ama Shop', 'providers=paystack')
})
afterAll(async () => {
  await other?.stop()
  await gateway?.stop()
  await paystack?.stop()
})

let numbers = 0
const newNumber = (prefix = '024') => `${prefix}8${String(++numbers).padStart(6, '0')}`

async function atStep(payment_method = 'mtn_mobile_money', prefix = '024') {
  const number = newNumber(prefix)
  paystack.rule({ number, story: { asks: 'send_otp' } })
  const token = await shop.ask(merchant, { email: 'kofi@example.test' })
  await shop.pay(token, { payment_method, [`${payment_method}.phone`]: number })
  await shop.until(token, 'step')
  return token
}

const attempt = async (token: string) => {
  const [found] = await attemptsOf(gateway.db, merchant.merchant_id, await shop.reference(token))
  if (!found) throw new Error('no attempt')
  return found
}
const relayed = async (token: string) => {
  const attempt_id = await shop.attempt(token)
  return paystack.asked.filter(({ path, text }) => path === '/charge/submit_otp' && text.includes(attempt_id))
    .length
}
const type = (token: string, submits: number, code = '111111', url = gateway.url) =>
  postForm(`${url}/checkout/${token}/step`, {
    number: '1',
    submits: String(submits),
    otp: code,
    voucher_code: code,
  })
const page = async (token: string, lang = 'en') => (await send(shop.at(`${token}?lang=${lang}`))).text

// As if the customer had waited long enough.
const waited = async (token: string) =>
  gateway.db.rows(sql`
    update attempts set submitted_at = submitted_at - interval '61 seconds'
    where attempt_id = ${await shop.attempt(token)}`)

async function typeAll(token: string) {
  for (let submits = 0; submits < 5; submits++) {
    expect((await type(token, submits)).http).toBe(303)
    await shop.until(token, submits < 4 ? 'step' : 'wait')
    await waited(token)
  }
}

// How many submissions the waits of 5, 15, 30 and 60 s allow in this time. A starved machine may need longer than the first.
const allowedIn = (ms: number) => [0, 5, 20, 50, 110].filter(seconds => seconds * 1000 <= ms).length

test('300 codes as fast as they can be sent, by two gateways: none is relayed before its wait is over, and the page shows how long that is', async () => {
  const token = await atStep()
  const started = performance.now()
  for (let round = 0; round < 15; round++) {
    const { submits } = await attempt(token)
    await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        type(token, submits, String(100_000 + 20 * round + at), at % 2 ? gateway.url : other.url),
      ),
    )
  }
  await shop.until(token, 'step')
  const { submits } = await attempt(token)
  expect(await relayed(token)).toBe(submits)
  expect(submits).toBeGreaterThan(0)
  expect(submits).toBeLessThanOrEqual(allowedIn(performance.now() - started))
  await justSubmitted(token)
  const early = await type(token, submits)
  expect(early.http).toBe(429)
  expect(Number(early.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(early.text).toMatch(
    /data-count="\d+">Please take a moment: you can send the next one in \d+ seconds\./,
  )
  expect(early.text).toContain(`Tries left: ${5 - submits}.`)
  expect(early.text).toMatch(/<form[^>]*\/step/)
  expect(early.text).not.toContain('111111')
  await justSubmitted(token)
  expect(await page(token, 'fr')).toMatch(/vous pourrez réessayer dans \d+ secondes/)
})

const justSubmitted = async (token: string) =>
  gateway.db.rows(sql`
    update attempts set submitted_at = now() where attempt_id = ${await shop.attempt(token)}`)

for (const [what, method, prefix] of [
  ['a code', 'mtn_mobile_money', '024'],
  ['a voucher', 'telecel_cash', '020'],
] as const)
  test(`after five times ${what} nothing more is relayed, and the attempt is not failed: the provider ends it`, async () => {
    const token = await atStep(method, prefix)
    await typeAll(token)
    expect((await type(token, 5, '123456')).http).toBe(303)
    expect((await type(token, 4, '123456')).http).toBe(303)
    expect(await relayed(token)).toBe(5)
    expect(await attempt(token)).toMatchObject({ state: 'needs_input', submits: 5, ended_at: null })
    const html = await page(token)
    expect(html).toContain('No more tries for this request')
    expect(html).not.toMatch(/action="[^"]*\/step/)
    expect(html).toMatch(/action="[^"]*\/give-up/)
    expect(html).toContain('http-equiv="refresh"')
    expect(await page(token, 'fr')).toContain('Plus d’essai possible pour cette demande')

    // The provider's failure ends it, and another method can be chosen.
    const attempt_id = await shop.attempt(token)
    paystack.decline(attempt_id)
    await send(`${gateway.url}/callbacks/${attempt_id}`, { method: 'POST' })
    await shop.until(token, 'failed')
  })

test('a paid reply after the fifth submission pays', async () => {
  const token = await atStep()
  await typeAll(token)
  const attempt_id = await shop.attempt(token)
  paystack.approve(attempt_id)
  await send(`${gateway.url}/callbacks/${attempt_id}`, { method: 'POST' })
  await shop.until(token, 'paid')
})

for (const [trouble, words] of [
  ['busy', '429'],
  ['error', '500'],
  ['maintenance', '503'],
] as const)
  test(`a provider that answers submissions with ${words} is still polled: the account is not paused`, async () => {
    const tokens: string[] = []
    for (let at = 0; at < 6; at++) tokens.push(await atStep())
    paystack.weather = { trouble, at: '/charge/submit_otp' }
    for (const token of tokens) expect((await type(token, 0)).http).toBe(303)
    const number = newNumber()
    const next = await shop.ask(merchant, { email: 'kofi@example.test' })
    await shop.pay(next, wallet(number))
    await shop.until(next, 'wait')
    expect(paystack.book().some(charge => JSON.stringify(charge).includes(number))).toBe(true)
    paystack.weather = undefined
    for (const token of tokens)
      expect(await attempt(token)).toMatchObject({ state: 'pending', submits: 1, ended_at: null })
    const [first = ''] = tokens
    await send(`${gateway.url}/callbacks/${await shop.attempt(first)}`, { method: 'POST' })
    await shop.until(first, 'step')
  })
