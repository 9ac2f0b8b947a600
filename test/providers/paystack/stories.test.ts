import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ProviderAccount } from '../../../src/core/provider/provider.ts'
import type { Order } from '../../../src/core/provider/order.ts'
import type { Webhook } from '../../../src/core/provider/webhook.ts'
import { guardAccount } from '../../../src/runtime/providers/guard.ts'
import { openPaystack, type PaystackSimulator } from '../../simulators/paystack/paystack.ts'
import { type Received, receiveWebhooks } from '../../simulators/paystack/webhookReceiver.ts'
import type { Story } from '../../simulators/paystack/stories.ts'
import livePaystack from '../../../src/providers/paystack.ts'
import { accountAt, check, orderFor, secretKey, start, submit, tools } from './context.ts'

// Whole payments at the played provider, as a customer sees them.
let paystack: PaystackSimulator
let received: Received
let providerAccount: ProviderAccount
beforeAll(async () => {
  received = await receiveWebhooks()
  paystack = await openPaystack({ secretKey, webhookUrl: received.url, retryMs: 20 })
  providerAccount = accountAt(paystack.url)
})
afterAll(async () => {
  await paystack.stop()
  await received.stop()
})
beforeEach(() => {
  paystack.clearRules()
  paystack.weather = undefined
})

const toBe = (order: Order, story: Story) => paystack.rule({ key: order.idempotency_key, story })
// The same order, after something was sent at this moment: its prompt lives for three minutes from then on.
const sentAt = (order: Order, ms: number): Order => ({
  ...order,
  sent_at: new Date(ms),
  ends_at: new Date(ms + 180_000),
})
const hear = (webhook: Webhook) => providerAccount.handleWebhook?.(webhook)
const ofOrder = ({ idempotency_key: key }: Order) =>
  received.webhooks.filter(({ body }) => body.includes(key))
const told = (order: Order, count = 1) =>
  expect.poll(() => ofOrder(order).length).toBeGreaterThanOrEqual(count)

const news = (order: Order) => ofOrder(order).flatMap(webhook => hear(webhook) ?? [])

async function paidOrder(way = 'mtn_mobile_money') {
  const order = orderFor(way)
  await start(providerAccount, order)
  paystack.approve(order)
  return { idempotency_key: order.idempotency_key, order: { ...order, check_reversals: true } }
}

describe('wallets', () => {
  test('a prompt, approved; the webhook makes us ask', async () => {
    const order = orderFor('mtn_mobile_money')
    expect(await start(providerAccount, order)).toEqual({
      state: 'pending',
      text: 'Please complete authorization process on your mobile phone',
    })
    expect(await check(providerAccount, order)).toMatchObject({ state: 'pending' })
    paystack.approve(order)
    expect(await check(providerAccount, order)).toMatchObject({
      state: 'paid',
      amount: 2500n,
      fee: 49n,
      net: 2451n,
    })
    await told(order)
    expect(ofOrder(order).map(hear)).toEqual([[{ idempotency_key: order.idempotency_key }]])
  })

  test('the published number is paid at once, by verify', async () => {
    const order = orderFor('mtn_mobile_money', { given: { phone: '+233551234987' } })
    expect(await start(providerAccount, order)).toMatchObject({
      state: 'paid',
      amount: 2500n,
      order: order.idempotency_key,
    })
  })

  test('a no is found by asking alone', async () => {
    const order = orderFor('airteltigo_money')
    await start(providerAccount, order)
    paystack.decline(order)
    expect(await check(providerAccount, order)).toMatchObject({ state: 'failed', reason: 'declined' })
    expect(ofOrder(order)).toEqual([])
  })

  test('a voucher: wrong, wrong, right, then the prompt', async () => {
    const order = orderFor('telecel_cash')
    const step = {
      name: 'voucher',
      text: expect.stringContaining('*110#'),
      fields: [{ name: 'voucher_code' }],
    }
    expect(await start(providerAccount, order)).toMatchObject({ state: 'pending', step })
    expect(await check(providerAccount, order)).toMatchObject({ state: 'pending', step })
    for (const voucher_code of ['000000', '999999'])
      expect(await submit(providerAccount, order, 'voucher', { voucher_code })).toMatchObject({
        state: 'pending',
        step: { name: 'voucher', text: 'Provided registration token is invalid' },
      })
    const right = await submit(providerAccount, order, 'voucher', { voucher_code: '123456' })
    expect(right).toMatchObject({ state: 'pending', text: expect.stringContaining('mobile phone') })
    expect(right).not.toHaveProperty('step')
    paystack.approve(order)
    expect(await check(providerAccount, order)).toMatchObject({ state: 'paid' })
  })

  test('too many codes', async () => {
    const order = orderFor('telecel_cash')
    await start(providerAccount, order)
    for (let times = 0; times < 3; times++)
      await submit(providerAccount, order, 'voucher', { voucher_code: '0' })
    expect(await submit(providerAccount, order, 'voucher', { voucher_code: '123456' })).toMatchObject({
      state: 'pending',
      step: { text: expect.stringContaining('Too many attempts') },
    })
  })

  for (const trouble of ['error', 'cut', 'page', 'busy'] as const)
    test(`the answer to a code is lost by "${trouble}": asked again, we know whether it is still wanted`, async () => {
      const house = guardAccount(providerAccount)
      const [taken, lost] = [orderFor('telecel_cash'), orderFor('telecel_cash')]
      for (const order of [taken, lost]) await start(providerAccount, order)
      paystack.weather = { trouble, hasTaken: true, times: 1, at: '/charge/submit' }
      expect(await house.submit(taken, 'voucher', { voucher_code: '123456' })).toMatchObject({
        state: 'unknown',
      })
      paystack.weather = { trouble, times: 1, at: '/charge/submit' }
      expect(await house.submit(lost, 'voucher', { voucher_code: '123456' })).toMatchObject({
        state: 'unknown',
      })
      const replies = [await check(providerAccount, taken), await check(providerAccount, lost)]
      expect(replies.map(reply => 'step' in reply)).toEqual([false, true])
    })

  test('nobody answers: not finished inside the window, failed after it, paid all the same', async () => {
    let now = Date.now()
    const order = sentAt(orderFor('mtn_mobile_money'), now)
    const patient = accountAt(paystack.url, () => new Date(now))
    await start(patient, order)
    now += 300_000
    paystack.age({ idempotency_key: order.idempotency_key, ms: 300_000 })
    expect(await check(patient, order)).toEqual({ state: 'failed', reason: 'no_answer' })
    paystack.approve(order)
    expect(await check(patient, order)).toMatchObject({ state: 'paid', amount: 2500n })
  })

  test('failed when the window is over, by its own word', async () => {
    const order = orderFor('mtn_mobile_money')
    toBe(order, { unpaid: 'failed' })
    await start(providerAccount, order)
    paystack.age({ idempotency_key: order.idempotency_key, ms: 300_000 })
    expect(await check(providerAccount, order)).toMatchObject({ state: 'failed', reason: 'no_answer' })
  })

  test('a code that is typed late has the whole window after it', async () => {
    let now = Date.now()
    const order = sentAt(orderFor('telecel_cash'), now)
    const patient = accountAt(paystack.url, () => new Date(now))
    toBe(order, { asks: 'send_otp', meanwhile: 'abandoned' })
    await start(patient, order)
    now += 170_000
    paystack.age({ idempotency_key: order.idempotency_key, ms: 170_000 })
    await submit(patient, order, 'voucher', { voucher_code: '123456' })
    const typed = sentAt(order, now)
    now += 120_000 // 290 s after the start, 120 s after the code
    paystack.age({ idempotency_key: order.idempotency_key, ms: 120_000 })
    expect(await check(patient, typed)).toMatchObject({ state: 'pending' })
    now += 125_000
    paystack.age({ idempotency_key: order.idempotency_key, ms: 125_000 })
    expect(await check(patient, typed)).toEqual({ state: 'failed', reason: 'no_answer' })
  })

  test('the charge says pending: open, whatever verify says, and paid late', async () => {
    let now = Date.now()
    const order = sentAt(orderFor('mtn_mobile_money', { given: { phone: '+233240000015' } }), now)
    const patient = accountAt(paystack.url, () => new Date(now))
    expect(await start(patient, order)).toMatchObject({ state: 'pending' })
    for (const ms of [300_000, 3_600_000]) {
      now += ms
      paystack.age({ idempotency_key: order.idempotency_key, ms })
      expect(await check(patient, order)).toMatchObject({ state: 'pending' })
    }
    paystack.approve(order)
    expect(await check(patient, order)).toMatchObject({ state: 'paid' })
  })

  test('a wrong code that ends the charge is a no', async () => {
    const order = orderFor('mtn_mobile_money', { given: { phone: '+233240000016' } })
    expect(await start(providerAccount, order)).toMatchObject({ state: 'pending', step: { name: 'otp' } })
    expect(await submit(providerAccount, order, 'otp', { otp: '000000' })).toMatchObject({
      state: 'failed',
      reason: 'wrong_voucher',
    })
  })

  test('the customer bears the fee: paid, and charged more than was asked for', async () => {
    const order = orderFor('mtn_mobile_money')
    toBe(order, { feeBearer: 'customer' })
    await start(providerAccount, order)
    paystack.approve(order)
    expect(await check(providerAccount, order)).toMatchObject({
      state: 'paid',
      amount: 2500n,
      charged: 2549n,
      fee: 49n,
      net: 2500n,
    })
  })
})

describe('money that was taken is never lost', () => {
  for (const lost of ['error', 'cut', 'page', 'maintenance', 'busy'] as const)
    test(`charged, and answered with "${lost}"`, async () => {
      const house = guardAccount(providerAccount)
      const order = orderFor('mtn_mobile_money')
      toBe(order, { lost, ends: 'success' })
      expect(await house.start(order)).toMatchObject({ state: 'unknown' })
      expect(await house.start(order)).toMatchObject({ state: 'paid' }) // it is refused, and asked about
      expect(paystack.book().filter(({ reference }) => reference === order.idempotency_key)).toHaveLength(1)
    })

  test('reads that lag: not found, then not ended, then paid', async () => {
    const order = orderFor('mtn_mobile_money')
    toBe(order, { ends: 'success', hiddenMs: 60_000, lagMs: 120_000 })
    expect(await start(providerAccount, order)).toEqual({ state: 'pending' })
    expect(await check(providerAccount, order)).toEqual({ state: 'absent' })
    expect(await start(providerAccount, order)).toMatchObject({ state: 'unknown', acknowledged: true })
    paystack.age({ idempotency_key: order.idempotency_key, ms: 60_000 })
    expect(await check(providerAccount, order)).toEqual({ state: 'pending' })
    paystack.age({ idempotency_key: order.idempotency_key, ms: 60_000 })
    expect(await check(providerAccount, order)).toMatchObject({ state: 'paid' })
  })

  for (const [paysAs, is] of [
    [{ amount: 2600 }, { amount: 2600n, currency: 'GHS' }],
    [{ currency: 'NGN' }, { amount: 2500n, currency: 'NGN' }],
  ] as const)
    test(`verify says ${JSON.stringify(paysAs)}: told as it is`, async () => {
      const order = orderFor('mtn_mobile_money')
      toBe(order, { ends: 'success', paysAs })
      expect(await start(providerAccount, order)).toMatchObject({ state: 'paid', ...is })
    })

  test('verify answers for another order: that is not ours', async () => {
    const order = orderFor('mtn_mobile_money')
    toBe(order, { ends: 'success', paysAs: { reference: 'another' } })
    expect(await start(providerAccount, order)).toMatchObject({ state: 'unknown' })
    expect(await guardAccount(providerAccount).check(order)).toMatchObject({ state: 'other_order' })
  })

  test('reversed by Paystack itself: the whole amount, by one id', async () => {
    const { idempotency_key: key, order } = await paidOrder()
    paystack.reverse({ idempotency_key: key })
    for (const asked of [order, { ...order, check_reversals: false }])
      expect(await check(providerAccount, asked)).toMatchObject({
        state: 'paid',
        reversals: [{ id: 'reversed', amount: 2500n }],
      })
    await told(order, 2)
    expect(news(order)).toContainEqual({ idempotency_key: key, check_reversals: true })
  })

  test('refunds: pending, a part, another part, the rest', async () => {
    const { idempotency_key: key, order } = await paidOrder()
    const { id } = await paystack.refund({ idempotency_key: key, amount: 1000, status: 'pending' })
    expect(await check(providerAccount, order)).toMatchObject({ state: 'paid', reversals: [] })
    for (let times = 0; times < 2; times++)
      await paystack.refund({ idempotency_key: key, id, status: 'processed' })
    const first = { id: String(id), amount: 1000n, at: expect.any(Date) }
    expect(await check(providerAccount, order)).toMatchObject({ state: 'paid', reversals: [first] })
    await paystack.refund({ idempotency_key: key, amount: 500 })
    await paystack.refund({ idempotency_key: key })
    const reply = await check(providerAccount, order)
    expect(reply).toMatchObject({ reversals: [first, { amount: 500n }, { amount: 1000n }] })
    expect(paystack.book().find(({ reference }) => reference === key)).toMatchObject({ ended: 'reversed' })
    expect(news(order)).toContainEqual({ idempotency_key: key, check_reversals: true })
  })

  test('a refund of another transaction is not counted', async () => {
    const [one, other] = [await paidOrder(), await paidOrder()]
    await paystack.refund({ idempotency_key: other.idempotency_key })
    expect(await check(providerAccount, one.order)).toMatchObject({
      state: 'paid',
      reversals: [],
      disputes: [],
    })
  })

  for (const at of ['/refund', '/dispute'])
    test(`${at} is not answered: unknown, and asked again`, async () => {
      const { idempotency_key: key, order } = await paidOrder()
      await paystack.refund({ idempotency_key: key })
      paystack.weather = { trouble: 'error', at, times: 1 }
      expect(await check(providerAccount, order)).toMatchObject({ state: 'unknown', acknowledged: true })
      expect(await check(providerAccount, order)).toMatchObject({
        state: 'paid',
        reversals: [{ amount: 2500n }],
      })
    })

  for (const won of [true, false])
    test(`a dispute, ${won ? 'won' : 'lost'}; then another`, async () => {
      const { idempotency_key: key, order } = await paidOrder('card')
      const { id } = await paystack.dispute({ idempotency_key: key, amount: 1000 })
      const dispute = { id: String(id), amount: 1000n, due_at: expect.any(Date) }
      expect(await check(providerAccount, order)).toMatchObject({
        reversals: [],
        disputes: [{ ...dispute, state: 'open' }],
      })
      await paystack.resolve({ idempotency_key: key, won })
      const ended = { ...dispute, state: won ? 'won' : 'lost' }
      expect(await check(providerAccount, order)).toMatchObject({ reversals: [], disputes: [ended] })
      await paystack.dispute({ idempotency_key: key, amount: 500 })
      expect(await check(providerAccount, order)).toMatchObject({
        disputes: [ended, { state: 'open', amount: 500n }],
      })
      expect(news(order)).toContainEqual({ idempotency_key: key, check_reversals: true })
    })

  test('a rate that is refused wants a rest', async () => {
    paystack.weather = { trouble: 'busy', times: 1 }
    expect(await check(providerAccount, orderFor('card'))).toMatchObject({ state: 'unknown', restMs: 7000 })
  })
})

describe('webhooks', () => {
  test('early, before the charge is answered', async () => {
    const order = orderFor('mtn_mobile_money')
    toBe(order, { ends: 'success', hooks: [{ kind: 'early' }] })
    const started = start(providerAccount, order)
    await told(order)
    expect(ofOrder(order).map(hear)).toEqual([[{ idempotency_key: order.idempotency_key }]])
    expect(await started).toMatchObject({ state: 'paid' })
  })

  test('none, and twice', async () => {
    const [quiet, loud] = [orderFor('card'), orderFor('card')]
    toBe(quiet, { ends: 'success', hooks: [] })
    toBe(loud, { ends: 'success', hooks: [{}, { afterMs: 5 }] })
    for (const order of [quiet, loud]) await start(providerAccount, order)
    await told(loud, 2)
    expect(ofOrder(loud).map(hear)).toEqual([
      [{ idempotency_key: loud.idempotency_key }],
      [{ idempotency_key: loud.idempotency_key }],
    ])
    expect(ofOrder(quiet)).toEqual([])
  })

  test('one that is not answered with 200 comes again', async () => {
    const order = orderFor('card')
    received.status = 500
    await start(providerAccount, order)
    paystack.approve(order)
    await told(order, 2)
    received.status = 200
  })

  for (const kind of ['unsigned', 'forged', 'altered'] as const)
    test(`${kind}: not theirs`, async () => {
      const order = orderFor('card')
      toBe(order, { hooks: [] })
      await start(providerAccount, order)
      paystack.approve(order)
      await paystack.hook({ idempotency_key: order.idempotency_key, kind })
      expect(ofOrder(order).map(hear)).toEqual([undefined])
    })

  test('for another order, or with another amount: it only makes us ask', async () => {
    const order = orderFor('card')
    toBe(order, { hooks: [] })
    await start(providerAccount, order)
    await paystack.hook({ idempotency_key: order.idempotency_key, kind: 'wrong_amount' })
    expect(ofOrder(order).map(hear)).toEqual([[{ idempotency_key: order.idempotency_key }]])
    const before = received.webhooks.length
    await paystack.hook({ idempotency_key: order.idempotency_key, kind: 'other_order' })
    const [other] = received.webhooks.slice(before).map(hear)
    expect(other).toHaveLength(1)
    expect(other).not.toEqual([{ idempotency_key: order.idempotency_key }])
    expect(await check(providerAccount, order)).toEqual({ state: 'pending' })
  })
})

async function openPage() {
  const order = orderFor('card')
  const reply = await start(providerAccount, order)
  const url = reply.state === 'pending' ? (reply.redirect_url ?? '') : ''
  const decide = (decision: string) =>
    fetch(url, { method: 'POST', body: new URLSearchParams({ decision }), redirect: 'manual' })
  return { order, url, decide }
}

describe('cards', () => {
  test('a page on which a person pays, and which leads back', async () => {
    const { order, url, decide } = await openPage()
    expect(await (await fetch(url)).text()).toContain('GHS 25.00')
    expect(await check(providerAccount, order)).toEqual({ state: 'pending' })
    const back = await decide('pay')
    expect(back.status).toBe(303)
    expect(back.headers.get('location')).toBe(
      `${order.return_url}?trxref=${order.idempotency_key}&reference=${order.idempotency_key}`,
    )
    expect(await check(providerAccount, order)).toMatchObject({
      state: 'paid',
      card_type: 'Visa',
      instrument: 'Visa •••• 4081',
    })
  })

  for (const [decision, reason] of [
    ['decline', 'card_declined'],
    ['no_money', 'insufficient_funds'],
    ['not_secure', 'not_authenticated'],
  ] as const)
    test(`${decision}, again, then another card on the same page`, async () => {
      const { order, decide } = await openPage()
      expect((await decide(decision)).status).toBe(200)
      paystack.age({ idempotency_key: order.idempotency_key, ms: 60_000 })
      const first = await check(providerAccount, order)
      expect(first).toMatchObject({ state: 'declined', reason, provider_time: expect.any(Date) })
      expect(await check(providerAccount, order)).toEqual(first)
      await decide(decision)
      expect(await check(providerAccount, order)).toMatchObject({ state: 'declined', reason })
      expect(await check(providerAccount, order)).not.toEqual(first)
      await decide('pay')
      expect(await check(providerAccount, order)).toMatchObject({ state: 'paid' })
    })

  test('left: not finished, until nobody can be there any more', async () => {
    const { order, decide } = await openPage()
    expect((await decide('leave')).headers.get('location')).toBe(order.return_url)
    expect(await check(providerAccount, order)).toEqual({ state: 'pending' })
    const later = accountAt(paystack.url, () => new Date(Date.now() + 3_600_000))
    expect(await check(later, order)).toEqual({ state: 'failed', reason: 'no_answer' })
  })
})

test('a key that is not known', async () => {
  const stranger = await openPaystack({ secretKey: 'sk_test_another' })
  const wrong = accountAt(stranger.url)
  const words = expect.stringContaining('HTTP 401')
  const refused = { words, provider_code: 'invalid_Key' }
  expect(await start(wrong, orderFor('card'))).toMatchObject({ state: 'not_sent', ...refused })
  expect(await check(wrong, orderFor('card'))).toMatchObject({ state: 'unknown', ...refused })
  await stranger.stop()
})

for (const http of [401, 403] as const)
  test(`a key that is refused with ${http} while an order is under way`, async () => {
    const order = orderFor('mtn_mobile_money')
    await start(providerAccount, order)
    paystack.refuseKey({ http })
    expect(await start(providerAccount, orderFor('card'))).toMatchObject({ state: 'not_sent' })
    expect(await check(providerAccount, order)).toMatchObject({ state: 'unknown' })
    paystack.refuseKey({})
    expect(await check(providerAccount, order)).toMatchObject({ state: 'pending' })
  })

for (const not_found_http of [400, 404] as const)
  test(`an order that Paystack does not have, with HTTP ${not_found_http}`, async () => {
    paystack.settings({ not_found_http })
    expect(await check(providerAccount, orderFor('card'))).toEqual({ state: 'absent' })
  })

test('a live business beside a test one: its own key, webhook address and charges', async () => {
  const live = 'sk_live_0123456789abcdef'
  const heard = await receiveWebhooks()
  paystack.business({ secret_key: live, webhook_url: heard.url })
  const theirs = livePaystack.open({ secret_key: live, url: paystack.url }, tools())
  expect(theirs.mode).toBe('live')
  const order = orderFor('mtn_mobile_money')
  await start(theirs, order)
  expect(await check(providerAccount, order)).toEqual({ state: 'absent' })
  paystack.approve(order)
  expect(await check(theirs, order)).toMatchObject({ state: 'paid' })
  await expect.poll(() => heard.webhooks.length).toBe(1)
  expect(heard.webhooks.map(one => theirs.handleWebhook?.(one))).toEqual([
    [{ idempotency_key: order.idempotency_key }],
  ])
  expect(heard.webhooks.map(hear)).toEqual([undefined]) // signed with the other key
  expect(JSON.parse(String(heard.webhooks[0]?.body))).toMatchObject({ data: { domain: 'live' } })
  expect(ofOrder(order)).toEqual([])
  await heard.stop()
})
