import { describe, expect, test } from 'vitest'
import type { Order } from '../../../src/core/provider/order.ts'
import { check, orderFor, start, submit } from './context.ts'
import { bad, good, openScripted, type Script } from './scripted.ts'

const minutes = 60_000

describe('what a charge says', () => {
  const text = 'Please do something'
  for (const [word, reply] of [
    ['pay_offline', { state: 'pending', text }],
    ['pending', { state: 'pending', text }],
    ['ongoing', { state: 'pending', text }],
    ['processing', { state: 'pending', text }],
    ['queued', { state: 'pending', text }],
    [
      'send_otp',
      { state: 'pending', step: { name: 'otp', text, fields: [{ name: 'otp', kind: 'digits' }] } },
    ],
    ['send_birthday', { state: 'pending', step: { name: 'birthday', text, fields: [{ kind: 'date' }] } }],
    ['send_phone', { state: 'pending', step: { name: 'phone', text, fields: [{ kind: 'phone' }] } }],
    ['send_pin', { state: 'unknown', acknowledged: true, unknownCode: 'send_pin' }],
    ['send_address', { state: 'unknown', acknowledged: true, unknownCode: 'send_address' }],
    ['open_url', { state: 'pending', redirect_url: 'https://bank.example.test/', text }],
    ['half_done', { state: 'unknown', acknowledged: true, unknownCode: 'half_done' }],
    ['', { state: 'unknown', acknowledged: true }],
  ] as const) {
    test(`${word}, in answer to a start, a step and a question`, async () => {
      const order = orderFor('mtn_mobile_money')
      const data = {
        reference: order.idempotency_key,
        status: word,
        display_text: text,
        url: 'https://bank.example.test/',
      }
      const told = good(data)
      const verify = good({ reference: order.idempotency_key, status: 'ongoing' })
      const { account } = await openScripted({ charge: told, submit: told, pending: told, verify })
      expect(await start(account, order)).toMatchObject(reply)
      expect(await submit(account, order, 'otp', { otp: '123456' })).toMatchObject(reply)
      expect(await check(account, order)).toMatchObject(reply)
    })
  }

  test('open_url without an address has no way on', async () => {
    const order = orderFor('mtn_mobile_money')
    const { account } = await openScripted({
      charge: good({ reference: order.idempotency_key, status: 'open_url' }),
    })
    expect(await start(account, order)).toMatchObject({ state: 'unknown', acknowledged: true })
  })

  test('to Telecel’s customers the code is a voucher', async () => {
    const order = orderFor('telecel_cash')
    const { account } = await openScripted({
      charge: good({ reference: order.idempotency_key, status: 'send_otp' }),
    })
    expect(await start(account, order)).toEqual({
      state: 'pending',
      step: { name: 'voucher', fields: [{ name: 'voucher_code', kind: 'digits', maxLength: 12 }] },
    })
  })

  for (const word of ['success', 'failed', 'timeout', 'abandoned', 'reversed']) {
    test(`${word} is not believed: verify is asked`, async () => {
      const order = orderFor('mtn_mobile_money')
      const { idempotency_key: key } = order
      const told = good({ reference: key, status: word, amount: 2500, currency: 'GHS' })
      const script: Script = { charge: told, submit: told, pending: told }
      const { account } = await openScripted(script)
      const replies = async () => [
        await start(account, order),
        await submit(account, order, 'otp', { otp: '1' }),
      ]
      for (const reply of await replies())
        expect(reply).toMatchObject({ state: 'unknown', acknowledged: true })
      script.verify = bad(404, 'Transaction reference not found')
      for (const reply of await replies())
        expect(reply).toMatchObject({ state: 'unknown', acknowledged: true })
      script.verify = good({ reference: key, status: 'ongoing' })
      for (const reply of await replies()) expect(reply).toEqual({ state: 'pending' })
      script.verify = good({ id: 7, reference: key, status: 'success', amount: 2500, currency: 'GHS' })
      for (const reply of await replies())
        expect(reply).toEqual({
          state: 'paid',
          order: key,
          amount: 2500n,
          currency: 'GHS',
          provider_ref: '7',
        })
    })
  }

  test('a charge of another reference says nothing of this one', async () => {
    const told = good({ reference: 'another', status: 'pay_offline' })
    const verify = good({ reference: 'another', status: 'failed' })
    const { account } = await openScripted({ charge: told, submit: told, verify })
    const order = orderFor('mtn_mobile_money')
    for (const reply of [
      await start(account, order),
      await submit(account, order, 'otp', { otp: '1' }),
      await check(account, order),
    ])
      expect(reply).toEqual({ state: 'unknown', words: 'The answer is about another order.' })
  })
})

describe('what verify says', () => {
  for (const [status, reply] of [
    ['success', { state: 'paid', amount: 2500n, currency: 'GHS' }],
    ['failed', { state: 'declined', reason: 'refused' }], // on a page that is open
    ['abandoned', { state: 'pending' }],
    ['timeout', { state: 'pending' }],
    ['ongoing', { state: 'pending' }],
    ['pending', { state: 'pending' }],
    ['processing', { state: 'pending' }],
    ['queued', { state: 'pending' }],
    ['Success', { state: 'unknown', acknowledged: true, unknownCode: 'Success' }],
    ['settled', { state: 'unknown', acknowledged: true, unknownCode: 'settled' }],
    [true, { state: 'unknown' }],
    [undefined, { state: 'unknown' }],
  ] as const) {
    test(`${status}`, async () => {
      const order = orderFor('card')
      const data = { reference: order.idempotency_key, status, amount: 2500, currency: 'GHS' }
      const { account } = await openScripted({ verify: good(data) })
      expect(await check(account, order)).toMatchObject(reply)
    })
  }

  test('a whole yes: fee, net, time, and the card as a receipt may show it', async () => {
    const order = orderFor('card')
    const data = {
      id: 4_099_260_516,
      reference: order.idempotency_key,
      status: 'success',
      amount: 2500,
      currency: 'GHS',
      fees: 49,
      paid_at: '2026-11-17T03:00:00.000Z',
      gateway_response: 'Approved',
      message: null,
      channel: 'card',
      authorization: { brand: 'visa', last4: '4081', bin: '408408', card_type: 'visa ' },
    }
    const { account } = await openScripted({ verify: good(data) })
    expect(await check(account, order)).toEqual({
      state: 'paid',
      order: order.idempotency_key,
      amount: 2500n,
      currency: 'GHS',
      fee: 49n,
      net: 2451n,
      provider_ref: '4099260516',
      provider_time: new Date('2026-11-17T03:00:00Z'),
      psp_response_msg: 'Approved',
      card_type: 'Visa',
      instrument: 'Visa •••• 4081',
    })
  })

  for (const amount of [25.5, -1, '25.00', '', 'lots', null, undefined, 2 ** 60, '-1', [2500]])
    for (const status of ['success', 'reversed'])
      test(`${status} with the amount ${JSON.stringify(amount)} is a mismatch at once`, async () => {
        const order = orderFor('card')
        const verify = good({ id: 7, reference: order.idempotency_key, status, amount, currency: 'GHS' })
        const { account } = await openScripted({ verify })
        expect(await check(account, order)).toMatchObject({
          state: 'paid_mismatch',
          order: order.idempotency_key,
          words: expect.stringContaining('paid'),
          provider_ref: '7',
        })
      })

  test('success without a currency is a mismatch at once', async () => {
    const order = orderFor('card')
    const verify = good({ reference: order.idempotency_key, status: 'success', amount: 2500, currency: null })
    const { account } = await openScripted({ verify })
    expect(await check(account, order)).toMatchObject({
      state: 'paid_mismatch',
      order: order.idempotency_key,
    })
  })

  for (const [amount, requested_amount, fees, reply] of [
    [2549, 2500, 49, { amount: 2500n, charged: 2549n, fee: 49n, net: 2500n }],
    ['2549', '2500', '49', { amount: 2500n, charged: 2549n, fee: 49n }],
    [2500, 2500, 49, { amount: 2500n, fee: 49n, net: 2451n }], // the merchant bears it
    [2550, 2500, 49, { amount: 2550n }], // more than the fee
    [2549, 2500, null, { amount: 2549n }],
    [2549, 2400, 149, { amount: 2549n }], // another request than ours
    [2451, 2500, -49, { amount: 2451n }],
    [2451, 2500, 49, { amount: 2451n }], // less than was asked for
    [2549, null, 49, { amount: 2549n }],
  ] as const)
    test(`paid ${amount} where ${requested_amount} was requested, with fees of ${fees}`, async () => {
      const order = orderFor('card')
      const told = { amount, requested_amount, fees }
      const verify = good({ reference: order.idempotency_key, status: 'success', currency: 'GHS', ...told })
      const { account } = await openScripted({ verify })
      const paid = await check(account, order)
      expect(paid).toMatchObject({ state: 'paid', ...reply })
      expect('charged' in paid).toBe('charged' in reply)
    })

  for (const [amount, currency] of [
    [2600, 'GHS'],
    ['2600', 'GHS'],
    [2600, 'NGN'],
  ] as const)
    test(`paid ${currency} ${JSON.stringify(amount)} is told as it is`, async () => {
      const order = orderFor('card')
      const verify = good({ reference: order.idempotency_key, status: 'success', amount, currency })
      const { account } = await openScripted({ verify })
      expect(await check(account, order)).toMatchObject({ state: 'paid', amount: 2600n, currency })
    })

  test('a yes names the order that Paystack names, or none', async () => {
    const script: Script = {}
    const { account } = await openScripted(script)
    for (const [reference, named] of [
      ['another', 'another'],
      [undefined, ''],
    ] as const) {
      script.verify = good({ reference, status: 'success', amount: 2500, currency: 'GHS' })
      expect(await check(account, orderFor('card'))).toMatchObject({ state: 'paid', order: named })
    }
  })
})

const cardPage = 'https://checkout.example.test/page'
const endedAgo = (ms: number) => new Date(Date.now() - ms)

// An order whose last message left so long ago, with the lifetime of its method.
const sentAgo = (way: string, ms: number, changes: Partial<Order> = {}) => {
  const sent_at = endedAgo(ms)
  const lifetimeMs = way === 'card' ? 30 * minutes : 3 * minutes
  return orderFor(way, { sent_at, ends_at: new Date(sent_at.getTime() + lifetimeMs), ...changes })
}

describe('not finished', () => {
  for (const [way, since, charge, reply] of [
    ['card', 29 * minutes, undefined, { state: 'pending' }],
    ['card', 32 * minutes, undefined, { state: 'failed', reason: 'no_answer' }],
    ['mtn_mobile_money', 2 * minutes, 'abandoned', { state: 'pending' }],
    ['mtn_mobile_money', 5 * minutes, 'abandoned', { state: 'failed', reason: 'no_answer' }],
    ['mtn_mobile_money', 5 * minutes, 'timeout', { state: 'failed', reason: 'no_answer' }],
    ['mtn_mobile_money', 5 * minutes, 'failed', { state: 'failed', reason: 'no_answer' }],
    ['mtn_mobile_money', 5 * minutes, 'success', { state: 'pending' }], // verify has not caught up
    ['mtn_mobile_money', 5 * minutes, 'half_done', { state: 'unknown', acknowledged: true }],
    ['mtn_mobile_money', 5 * minutes, 'pay_offline', { state: 'pending' }],
    ['mtn_mobile_money', 61 * minutes, 'half_done', { state: 'unknown', acknowledged: true }],
    ['mtn_mobile_money', 61 * minutes, 'success', { state: 'pending' }],
    ['mtn_mobile_money', 61 * minutes, 'pay_offline', { state: 'failed', reason: 'no_answer' }],
    ['telecel_cash', 5 * minutes, 'send_otp', { state: 'pending', step: { name: 'voucher' } }],
    ['telecel_cash', 61 * minutes, 'send_otp', { state: 'failed', reason: 'no_answer' }],
  ] as const) {
    for (const status of ['abandoned', 'timeout'])
      test(`${way}, ${status} ${since / minutes} minutes after it was sent, the charge says ${charge}`, async () => {
        const order = sentAgo(way, since, { redirect_url: way === 'card' ? cardPage : null })
        const script: Script = {
          verify: good({ reference: order.idempotency_key, status }),
          pending: charge && good({ reference: order.idempotency_key, status: charge }),
        }
        const { account } = await openScripted(script)
        expect(await check(account, order)).toMatchObject(reply)
      })
  }

  for (const charge of ['pending', 'processing', 'ongoing', 'queued'])
    for (const status of ['abandoned', 'timeout', 'failed'])
      for (const since of [5 * minutes, 600 * minutes])
        test(`the charge says ${charge}: open, although verify says ${status} after ${since / minutes} minutes`, async () => {
          const order = sentAgo('mtn_mobile_money', since)
          const { account } = await openScripted({
            verify: good({ reference: order.idempotency_key, status }),
            pending: good({ reference: order.idempotency_key, status: charge }),
          })
          expect(await check(account, order)).toMatchObject({ state: 'pending' })
        })

  test('a voucher that was typed late has the whole time of the prompt after it', async () => {
    const started_at = endedAgo(6 * minutes)
    const order = sentAgo('telecel_cash', 2 * minutes, { started_at })
    const told = good({ reference: order.idempotency_key, status: 'abandoned' })
    const { account } = await openScripted({ verify: told, pending: told })
    expect(await check(account, order)).toEqual({ state: 'pending' })
  })

  for (const [since, status, redirect_url, reply] of [
    [1 * minutes, 'abandoned', null, { state: 'pending' }], // the answer to the start may still be on its way
    [3 * minutes, 'abandoned', null, { state: 'failed', reason: 'provider_error' }],
    [3 * minutes, 'abandoned', cardPage, { state: 'pending' }],
    [3 * minutes, 'ongoing', null, { state: 'pending' }],
  ] as const)
    test(`card after ${since / minutes} minutes, ${status}, ${redirect_url ? 'with' : 'without'} a page`, async () => {
      const order = sentAgo('card', since, { redirect_url })
      const { account } = await openScripted({ verify: good({ reference: order.idempotency_key, status }) })
      expect(await check(account, order)).toMatchObject(reply)
    })

  test('ongoing is never over by our clock', async () => {
    const order = sentAgo('mtn_mobile_money', 600 * minutes)
    const told = good({ reference: order.idempotency_key, status: 'ongoing' })
    const { account } = await openScripted({ verify: told, pending: told })
    expect(await check(account, order)).toEqual({ state: 'pending' })
  })

  for (const status of ['abandoned', 'failed'])
    for (const pending of [
      bad(500, ''),
      bad(429, ''),
      bad(401, 'Invalid key'),
      bad(400, 'Please wait a few minutes'),
    ])
      test(`${status}: a step is not over because the charge answered ${pending.status}`, async () => {
        const order = sentAgo('telecel_cash', 120 * minutes)
        const verify = good({ reference: order.idempotency_key, status })
        const { account } = await openScripted({ verify, pending })
        expect(await check(account, order)).toMatchObject({ state: 'unknown', acknowledged: true })
      })
})

const failed = (order: Order, more: object = {}) =>
  good({ reference: order.idempotency_key, status: 'failed', gateway_response: 'Declined', ...more })

describe('a card that was declined on the page', () => {
  for (const [since, state] of [
    [1 * minutes, 'declined'],
    [35 * minutes, 'declined'], // declined in the last minute, it stays open for another card
    [62 * minutes, 'failed'],
  ] as const)
    test(`${since / minutes} minutes after the start: ${state}`, async () => {
      const order = sentAgo('card', since, { redirect_url: cardPage })
      const { account } = await openScripted({ verify: failed(order) })
      expect(await check(account, order)).toMatchObject({
        state,
        reason: 'card_declined',
        psp_response_msg: 'Declined',
      })
    })

  test('the time of the last decline comes from the log', async () => {
    const order = sentAgo('card', minutes, { redirect_url: cardPage })
    const start_time = Date.UTC(2026, 10, 17, 12) / 1000
    const history = [
      { type: 'action', message: 'Attempted to pay with card', time: 10 },
      { type: 'error', message: 'Error: Declined', time: 12 },
      { type: 'action', message: 'Attempted to pay with card', time: 40 },
      { type: 'error', message: 'Error: Declined', time: 43 },
      { type: 'action', message: 'Set payment method to: card', time: 50 },
    ]
    const { account } = await openScripted({ verify: failed(order, { log: { start_time, history } }) })
    const provider_time = new Date(Date.UTC(2026, 10, 17, 12, 0, 43))
    expect(await check(account, order)).toMatchObject({ state: 'declined', provider_time })
  })

  for (const log of [null, [], 5, { start_time: 'x' }, { start_time: 1, history: 5 }, { history: [null, 5] }])
    test(`a log that tells no time: ${JSON.stringify(log)}`, async () => {
      const order = sentAgo('card', minutes, { redirect_url: cardPage })
      const { account } = await openScripted({ verify: failed(order, { log }) })
      expect(await check(account, order)).not.toHaveProperty('provider_time')
    })

  test('of a wallet it is a plain no', async () => {
    const order = orderFor('mtn_mobile_money')
    const { account } = await openScripted({ verify: failed(order), pending: failed(order) })
    expect(await check(account, order)).toMatchObject({ state: 'failed', reason: 'declined' })
  })
})
