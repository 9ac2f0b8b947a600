import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Channel } from '../../../src/core/channel/channel.ts'
import type { Order } from '../../../src/core/channel/order.ts'
import type { Webhook } from '../../../src/core/channel/webhook.ts'
import { guardChannel } from '../../../src/runtime/channels/guard.ts'
import { openPaystack, type PaystackSimulator } from '../../simulators/paystack/paystack.ts'
import { type Received, receiveWebhooks } from '../../simulators/paystack/receiver.ts'
import type { Story } from '../../simulators/paystack/stories.ts'
import { channelAt, check, orderFor, secretKey, start, submit } from './context.ts'

// Whole payments at the played provider, as a customer sees them.
let paystack: PaystackSimulator
let received: Received
let channel: Channel
beforeAll(async () => {
  received = await receiveWebhooks()
  paystack = await openPaystack({ secretKey, webhookUrl: received.url, retryMs: 20 })
  channel = channelAt(paystack.url)
})
afterAll(async () => {
  await paystack.stop()
  await received.stop()
})
beforeEach(() => {
  paystack.clearRules()
  paystack.weather = undefined
})

const toBe = (order: Order, story: Story) => paystack.rule({ key: order.key, story })
const hear = (webhook: Webhook) => channel.hear?.(webhook)
const ofOrder = ({ key }: Order) => received.webhooks.filter(({ body }) => body.includes(key))
const told = (order: Order, count = 1) =>
  expect.poll(() => ofOrder(order).length).toBeGreaterThanOrEqual(count)

describe('wallets', () => {
  test('a prompt, approved; the webhook makes us ask', async () => {
    const order = orderFor('mtn_mobile_money')
    expect(await start(channel, order)).toEqual({
      state: 'pending',
      text: 'Please complete authorization process on your mobile phone',
    })
    expect(await check(channel, order)).toMatchObject({ state: 'pending' })
    paystack.approve(order)
    expect(await check(channel, order)).toMatchObject({ state: 'paid', amount: 2500n, fee: 49n, net: 2451n })
    await told(order)
    expect(ofOrder(order).map(hear)).toEqual([[{ key: order.key }]])
  })

  test('the published number is paid at once, by verify', async () => {
    const order = orderFor('mtn_mobile_money', { given: { phone: '+233551234987' } })
    expect(await start(channel, order)).toMatchObject({ state: 'paid', amount: 2500n, order: order.key })
  })

  test('a no is found by asking alone', async () => {
    const order = orderFor('airteltigo_money')
    await start(channel, order)
    paystack.decline(order)
    expect(await check(channel, order)).toMatchObject({ state: 'failed', reason: 'declined' })
    expect(ofOrder(order)).toEqual([])
  })

  test('a voucher: wrong, wrong, right, then the prompt', async () => {
    const order = orderFor('telecel_cash')
    const step = {
      name: 'voucher',
      text: expect.stringContaining('*110#'),
      fields: [{ name: 'voucher_code' }],
    }
    expect(await start(channel, order)).toMatchObject({ state: 'pending', step })
    expect(await check(channel, order)).toMatchObject({ state: 'pending', step })
    for (const voucher_code of ['000000', '999999'])
      expect(await submit(channel, order, 'voucher', { voucher_code })).toMatchObject({
        state: 'pending',
        step: { name: 'voucher', text: 'Provided registration token is invalid' },
      })
    const right = await submit(channel, order, 'voucher', { voucher_code: '123456' })
    expect(right).toMatchObject({ state: 'pending', text: expect.stringContaining('mobile phone') })
    expect(right).not.toHaveProperty('step')
    paystack.approve(order)
    expect(await check(channel, order)).toMatchObject({ state: 'paid' })
  })

  test('too many codes', async () => {
    const order = orderFor('telecel_cash')
    await start(channel, order)
    for (let times = 0; times < 3; times++) await submit(channel, order, 'voucher', { voucher_code: '0' })
    expect(await submit(channel, order, 'voucher', { voucher_code: '123456' })).toMatchObject({
      state: 'pending',
      step: { text: expect.stringContaining('Too many attempts') },
    })
  })

  for (const trouble of ['error', 'cut', 'page', 'busy'] as const)
    test(`the answer to a code is lost by "${trouble}": asked again, we know whether it is still wanted`, async () => {
      const house = guardChannel(channel)
      const [taken, lost] = [orderFor('telecel_cash'), orderFor('telecel_cash')]
      for (const order of [taken, lost]) await start(channel, order)
      paystack.weather = { trouble, hasTaken: true, times: 1, at: '/charge/submit' }
      expect(await house.submit(taken, 'voucher', { voucher_code: '123456' })).toMatchObject({
        state: 'unknown',
      })
      paystack.weather = { trouble, times: 1, at: '/charge/submit' }
      expect(await house.submit(lost, 'voucher', { voucher_code: '123456' })).toMatchObject({
        state: 'unknown',
      })
      const replies = [await check(channel, taken), await check(channel, lost)]
      expect(replies.map(reply => 'step' in reply)).toEqual([false, true])
    })

  test('nobody answers: not finished inside the window, failed after it, paid all the same', async () => {
    const order = orderFor('mtn_mobile_money')
    let now = Date.now()
    const patient = channelAt(paystack.url, () => new Date(now))
    await start(patient, order)
    now += 300_000
    paystack.age({ key: order.key, ms: 300_000 })
    expect(await check(patient, order)).toEqual({ state: 'failed', reason: 'no_answer' })
    paystack.approve(order)
    expect(await check(patient, order)).toMatchObject({ state: 'paid', amount: 2500n })
  })

  test('failed when the window is over, by its own word', async () => {
    const order = orderFor('mtn_mobile_money')
    toBe(order, { unpaid: 'failed' })
    await start(channel, order)
    paystack.age({ key: order.key, ms: 300_000 })
    expect(await check(channel, order)).toMatchObject({ state: 'failed', reason: 'no_answer' })
  })

  test('a code that is typed late has the whole window after it', async () => {
    const order = orderFor('telecel_cash')
    let now = Date.now()
    const patient = channelAt(paystack.url, () => new Date(now))
    await start(patient, order)
    now += 170_000
    paystack.age({ key: order.key, ms: 170_000 })
    await submit(patient, order, 'voucher', { voucher_code: '123456' })
    now += 120_000
    paystack.age({ key: order.key, ms: 120_000 })
    expect(await check(patient, order)).toMatchObject({ state: 'pending' })
    now += 120_000
    paystack.age({ key: order.key, ms: 120_000 })
    expect(await check(patient, order)).toEqual({ state: 'failed', reason: 'no_answer' })
  })
})

describe('money that was taken is never lost', () => {
  for (const lost of ['error', 'cut', 'page', 'maintenance', 'busy'] as const)
    test(`charged, and answered with "${lost}"`, async () => {
      const house = guardChannel(channel)
      const order = orderFor('mtn_mobile_money')
      toBe(order, { lost, ends: 'success' })
      expect(await house.start(order)).toMatchObject({ state: 'unknown' })
      expect(await house.start(order)).toMatchObject({ state: 'paid' }) // it is refused, and asked about
      expect(paystack.book().filter(({ reference }) => reference === order.key)).toHaveLength(1)
    })

  test('reads that lag: not found, then not ended, then paid', async () => {
    const order = orderFor('mtn_mobile_money')
    toBe(order, { ends: 'success', hiddenMs: 60_000, lagMs: 120_000 })
    expect(await start(channel, order)).toEqual({ state: 'pending' })
    expect(await check(channel, order)).toEqual({ state: 'absent' })
    expect(await start(channel, order)).toMatchObject({ state: 'unknown', acknowledged: true })
    paystack.age({ key: order.key, ms: 60_000 })
    expect(await check(channel, order)).toEqual({ state: 'pending' })
    paystack.age({ key: order.key, ms: 60_000 })
    expect(await check(channel, order)).toMatchObject({ state: 'paid' })
  })

  for (const [paysAs, is] of [
    [{ amount: 2600 }, { amount: 2600n, currency: 'GHS' }],
    [{ currency: 'NGN' }, { amount: 2500n, currency: 'NGN' }],
  ] as const)
    test(`verify says ${JSON.stringify(paysAs)}: told as it is`, async () => {
      const order = orderFor('mtn_mobile_money')
      toBe(order, { ends: 'success', paysAs })
      expect(await start(channel, order)).toMatchObject({ state: 'paid', ...is })
    })

  test('verify answers for another order: that is not ours', async () => {
    const order = orderFor('mtn_mobile_money')
    toBe(order, { ends: 'success', paysAs: { reference: 'another' } })
    expect(await start(channel, order)).toMatchObject({ state: 'unknown' })
    expect(await guardChannel(channel).check(order)).toMatchObject({ state: 'other_order' })
  })

  test('reversed: paid, and money that went back', async () => {
    const order = orderFor('mtn_mobile_money')
    await start(channel, order)
    paystack.approve(order)
    paystack.reverse(order)
    expect(await check(channel, order)).toMatchObject({ state: 'paid', reversal: { kind: 'reversed' } })
    await told(order, 2)
    expect(ofOrder(order).flatMap(webhook => hear(webhook) ?? [])).toContainEqual({
      key: order.key,
      reversal: { kind: 'reversed', words: 'Paystack paid back GHS 25.00.' },
    })
  })

  test('a dispute', async () => {
    const order = orderFor('card')
    await start(channel, order)
    paystack.approve(order)
    await paystack.dispute(order)
    await told(order, 2)
    expect(ofOrder(order).flatMap(webhook => hear(webhook) ?? [])).toContainEqual({
      key: order.key,
      reversal: { kind: 'charged_back', words: expect.stringContaining('GHS 25.00') },
    })
  })

  test('a rate that is refused wants a rest', async () => {
    paystack.weather = { trouble: 'busy', times: 1 }
    expect(await check(channel, orderFor('card'))).toMatchObject({ state: 'unknown', restMs: 7000 })
  })
})

describe('webhooks', () => {
  test('early, before the charge is answered', async () => {
    const order = orderFor('mtn_mobile_money')
    toBe(order, { ends: 'success', hooks: [{ kind: 'early' }] })
    const started = start(channel, order)
    await told(order)
    expect(ofOrder(order).map(hear)).toEqual([[{ key: order.key }]])
    expect(await started).toMatchObject({ state: 'paid' })
  })

  test('none, and twice', async () => {
    const [quiet, loud] = [orderFor('card'), orderFor('card')]
    toBe(quiet, { ends: 'success', hooks: [] })
    toBe(loud, { ends: 'success', hooks: [{}, { afterMs: 5 }] })
    for (const order of [quiet, loud]) await start(channel, order)
    await told(loud, 2)
    expect(ofOrder(loud).map(hear)).toEqual([[{ key: loud.key }], [{ key: loud.key }]])
    expect(ofOrder(quiet)).toEqual([])
  })

  test('one that is not answered with 200 comes again', async () => {
    const order = orderFor('card')
    received.status = 500
    await start(channel, order)
    paystack.approve(order)
    await told(order, 2)
    received.status = 200
  })

  for (const kind of ['unsigned', 'forged', 'altered'] as const)
    test(`${kind}: not theirs`, async () => {
      const order = orderFor('card')
      toBe(order, { hooks: [] })
      await start(channel, order)
      paystack.approve(order)
      await paystack.hook({ key: order.key, kind })
      expect(ofOrder(order).map(hear)).toEqual([undefined])
    })

  test('for another order, or with another amount: it only makes us ask', async () => {
    const order = orderFor('card')
    toBe(order, { hooks: [] })
    await start(channel, order)
    await paystack.hook({ key: order.key, kind: 'wrong_amount' })
    expect(ofOrder(order).map(hear)).toEqual([[{ key: order.key }]])
    const before = received.webhooks.length
    await paystack.hook({ key: order.key, kind: 'other_order' })
    const [other] = received.webhooks.slice(before).map(hear)
    expect(other).toHaveLength(1)
    expect(other).not.toEqual([{ key: order.key }])
    expect(await check(channel, order)).toEqual({ state: 'pending' })
  })
})

async function openPage() {
  const order = orderFor('card')
  const reply = await start(channel, order)
  const url = reply.state === 'pending' ? (reply.redirect_url ?? '') : ''
  const decide = (decision: string) =>
    fetch(url, { method: 'POST', body: new URLSearchParams({ decision }), redirect: 'manual' })
  return { order, url, decide }
}

describe('cards', () => {
  test('a page on which a person pays, and which leads back', async () => {
    const { order, url, decide } = await openPage()
    expect(await (await fetch(url)).text()).toContain('GHS 25.00')
    expect(await check(channel, order)).toEqual({ state: 'pending' })
    const back = await decide('pay')
    expect(back.status).toBe(303)
    expect(back.headers.get('location')).toBe(
      `${order.return_url}?trxref=${order.key}&reference=${order.key}`,
    )
    expect(await check(channel, order)).toMatchObject({
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
    test(`${decision}, then another card`, async () => {
      const { order, decide } = await openPage()
      expect((await decide(decision)).status).toBe(200)
      expect(await check(channel, order)).toMatchObject({ state: 'failed', reason })
      await decide('pay')
      expect(await check(channel, order)).toMatchObject({ state: 'paid' })
    })

  test('left: not finished, until nobody can be there any more', async () => {
    const { order, decide } = await openPage()
    expect((await decide('leave')).headers.get('location')).toBe(order.return_url)
    expect(await check(channel, order)).toEqual({ state: 'pending' })
    const later = channelAt(paystack.url, () => new Date(Date.now() + 3_600_000))
    expect(await check(later, order)).toEqual({ state: 'failed', reason: 'no_answer' })
  })
})

test('a key that is not known', async () => {
  const stranger = await openPaystack({ secretKey: 'sk_test_another' })
  const wrong = channelAt(stranger.url)
  const words = expect.stringContaining('HTTP 401')
  expect(await start(wrong, orderFor('card'))).toMatchObject({ state: 'not_sent', words })
  expect(await check(wrong, orderFor('card'))).toMatchObject({ state: 'unknown', words })
  await stranger.stop()
})
