import { describe, expect, test } from 'vitest'
import { isWrongCode } from '../../../src/channels/paystack/charge.ts'
import { sampleOf } from '../../../src/channels/paystack/line.ts'
import { reasonOf, refusalOf } from '../../../src/channels/paystack/reasons.ts'
import paystack from '../../../src/channels/paystack.ts'
import { check, never, orderFor, secretKey, start, submit, tools } from './context.ts'
import { bad, good, openScripted, type Script } from './scripted.ts'

const minutes = 60_000

describe('settings', () => {
  for (const [key, mode] of [
    ['sk_test_abc', 'test'],
    ['sk_live_abc', 'live'],
  ] as const) {
    test(`${key} is of ${mode} payments`, () => {
      const channel = paystack.open({ secret_key: key, url: 'https://api.paystack.co' }, tools())
      expect(channel).toMatchObject({ mode, account: `paystack ${mode}` })
    })
  }

  for (const key of [
    '',
    'pk_test_abc',
    'pk_live_abc',
    'sk_test_',
    'sk_prod_abc',
    ' sk_test_abc',
    'sk_test_a\nb',
  ])
    test(`${JSON.stringify(key)} is thrown by its name, and not shown`, () => {
      const open = () => paystack.open({ secret_key: key, url: 'https://api.paystack.co' }, tools())
      expect(open).toThrow(/^secret_key must be/)
      if (key.length > 'sk_test_'.length) expect(open).not.toThrow(key)
    })

  for (const url of ['', 'api.paystack.co', 'ftp://api.paystack.co', 'https://'])
    test(`the address ${JSON.stringify(url)} is thrown by its name`, () =>
      expect(() => paystack.open({ secret_key: secretKey, url }, tools())).toThrow(/^url must be/))
})

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
    ['send_pin', { state: 'unknown', acknowledged: true, oddWord: 'send_pin' }],
    ['send_address', { state: 'unknown', acknowledged: true, oddWord: 'send_address' }],
    ['open_url', { state: 'pending', redirect_url: 'https://bank.example.test/', text }],
    ['half_done', { state: 'unknown', acknowledged: true, oddWord: 'half_done' }],
    ['', { state: 'unknown', acknowledged: true }],
  ] as const) {
    test(`${word}, in answer to a start, a step and a question`, async () => {
      const order = orderFor('mtn_mobile_money')
      const data = {
        reference: order.key,
        status: word,
        display_text: text,
        url: 'https://bank.example.test/',
      }
      const told = good(data)
      const verify = good({ reference: order.key, status: 'ongoing' })
      const { channel } = await openScripted({ charge: told, submit: told, pending: told, verify })
      expect(await start(channel, order)).toMatchObject(reply)
      expect(await submit(channel, order, 'otp', { otp: '123456' })).toMatchObject(reply)
      expect(await check(channel, order)).toMatchObject(reply)
    })
  }

  test('open_url without an address has no way on', async () => {
    const order = orderFor('mtn_mobile_money')
    const { channel } = await openScripted({ charge: good({ reference: order.key, status: 'open_url' }) })
    expect(await start(channel, order)).toMatchObject({ state: 'unknown', acknowledged: true })
  })

  test('to Telecel’s customers the code is a voucher', async () => {
    const order = orderFor('telecel_cash')
    const { channel } = await openScripted({ charge: good({ reference: order.key, status: 'send_otp' }) })
    expect(await start(channel, order)).toEqual({
      state: 'pending',
      step: { name: 'voucher', fields: [{ name: 'voucher_code', kind: 'digits', maxLength: 12 }] },
    })
  })

  for (const word of ['success', 'failed', 'timeout', 'abandoned', 'reversed']) {
    test(`${word} is not believed: verify is asked`, async () => {
      const order = orderFor('mtn_mobile_money')
      const { key } = order
      const told = good({ reference: key, status: word, amount: 2500, currency: 'GHS' })
      const script: Script = { charge: told, submit: told, pending: told }
      const { channel } = await openScripted(script)
      const replies = async () => [
        await start(channel, order),
        await submit(channel, order, 'otp', { otp: '1' }),
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
    const { channel } = await openScripted({ charge: told, submit: told, verify })
    const order = orderFor('mtn_mobile_money')
    for (const reply of [
      await start(channel, order),
      await submit(channel, order, 'otp', { otp: '1' }),
      await check(channel, order),
    ])
      expect(reply).toEqual({ state: 'unknown', words: 'The answer is about another order.' })
  })
})

describe('what verify says', () => {
  for (const [status, reply] of [
    ['success', { state: 'paid', amount: 2500n, currency: 'GHS' }],
    ['reversed', { state: 'paid', amount: 2500n, reversal: { kind: 'reversed' } }],
    ['failed', { state: 'failed', reason: 'refused' }],
    ['abandoned', { state: 'pending' }],
    ['timeout', { state: 'pending' }],
    ['ongoing', { state: 'pending' }],
    ['pending', { state: 'pending' }],
    ['processing', { state: 'pending' }],
    ['queued', { state: 'pending' }],
    ['Success', { state: 'unknown', acknowledged: true, oddWord: 'Success' }],
    ['settled', { state: 'unknown', acknowledged: true, oddWord: 'settled' }],
    [true, { state: 'unknown' }],
    [undefined, { state: 'unknown' }],
  ] as const) {
    test(`${status}`, async () => {
      const order = orderFor('card')
      const data = { reference: order.key, status, amount: 2500, currency: 'GHS' }
      const { channel } = await openScripted({ verify: good(data) })
      expect(await check(channel, order)).toMatchObject(reply)
    })
  }

  test('a whole yes: fee, net, time, and the card as a receipt may show it', async () => {
    const order = orderFor('card')
    const data = {
      id: 4_099_260_516,
      reference: order.key,
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
    const { channel } = await openScripted({ verify: good(data) })
    expect(await check(channel, order)).toEqual({
      state: 'paid',
      order: order.key,
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
    test(`paid ${JSON.stringify(amount)} is unknown`, async () => {
      const order = orderFor('card')
      const verify = good({ reference: order.key, status: 'success', amount, currency: 'GHS' })
      const { channel } = await openScripted({ verify })
      expect(await check(channel, order)).toMatchObject({ state: 'unknown', acknowledged: true })
    })

  for (const [amount, currency] of [
    [2600, 'GHS'],
    ['2600', 'GHS'],
    [2600, 'NGN'],
  ] as const)
    test(`paid ${currency} ${JSON.stringify(amount)} is told as it is`, async () => {
      const order = orderFor('card')
      const verify = good({ reference: order.key, status: 'success', amount, currency })
      const { channel } = await openScripted({ verify })
      expect(await check(channel, order)).toMatchObject({ state: 'paid', amount: 2600n, currency })
    })

  test('a yes names the order that Paystack names, or none', async () => {
    const script: Script = {}
    const { channel } = await openScripted(script)
    for (const [reference, named] of [
      ['another', 'another'],
      [undefined, ''],
    ] as const) {
      script.verify = good({ reference, status: 'success', amount: 2500, currency: 'GHS' })
      expect(await check(channel, orderFor('card'))).toMatchObject({ state: 'paid', order: named })
    }
  })
})

const cardPage = 'https://checkout.example.test/page'

describe('abandoned', () => {
  for (const [way, since, charge, reply] of [
    ['card', 29 * minutes, undefined, { state: 'pending' }],
    ['card', 32 * minutes, undefined, { state: 'failed', reason: 'no_answer' }],
    ['mtn_mobile_money', 2 * minutes, 'abandoned', { state: 'pending' }],
    ['mtn_mobile_money', 5 * minutes, 'abandoned', { state: 'failed', reason: 'no_answer' }],
    ['mtn_mobile_money', 5 * minutes, 'pending', { state: 'failed', reason: 'no_answer' }],
    ['mtn_mobile_money', 5 * minutes, 'pay_offline', { state: 'pending' }], // since a code was typed late
    ['telecel_cash', 5 * minutes, 'send_otp', { state: 'pending', step: { name: 'voucher' } }],
    ['telecel_cash', 61 * minutes, 'send_otp', { state: 'failed', reason: 'no_answer' }],
  ] as const) {
    test(`${way} after ${since / minutes} minutes, the charge says ${charge}`, async () => {
      const order = orderFor(way, { redirect_url: way === 'card' ? cardPage : null })
      const script: Script = {
        verify: good({ reference: order.key, status: 'abandoned' }),
        pending: charge && good({ reference: order.key, status: charge }),
      }
      const { channel } = await openScripted(script, () => new Date(order.started_at.getTime() + since))
      expect(await check(channel, order)).toMatchObject(reply)
    })
  }

  for (const [since, status, redirect_url, reply] of [
    [1 * minutes, 'abandoned', null, { state: 'pending' }], // the answer to the start may still be on its way
    [3 * minutes, 'abandoned', null, { state: 'failed', reason: 'provider_error' }],
    [3 * minutes, 'abandoned', cardPage, { state: 'pending' }],
    [3 * minutes, 'ongoing', null, { state: 'pending' }],
  ] as const)
    test(`card after ${since / minutes} minutes, ${status}, ${redirect_url ? 'with' : 'without'} a page`, async () => {
      const order = orderFor('card', { redirect_url })
      const verify = good({ reference: order.key, status })
      const { channel } = await openScripted({ verify }, () => new Date(order.started_at.getTime() + since))
      expect(await check(channel, order)).toMatchObject(reply)
    })

  test('ongoing is never over by our clock', async () => {
    const order = orderFor('mtn_mobile_money')
    const told = good({ reference: order.key, status: 'ongoing' })
    const late = () => new Date(order.started_at.getTime() + 600 * minutes)
    const { channel } = await openScripted({ verify: told, pending: told }, late)
    expect(await check(channel, order)).toEqual({ state: 'pending' })
  })

  for (const pending of [
    bad(500, ''),
    bad(429, ''),
    bad(401, 'Invalid key'),
    bad(400, 'Please wait a few minutes'),
  ])
    test(`a step is not over because the charge answered ${pending.status}`, async () => {
      const order = orderFor('telecel_cash')
      const verify = good({ reference: order.key, status: 'abandoned' })
      const { channel } = await openScripted({ verify, pending })
      expect(await check(channel, order)).toMatchObject({ state: 'unknown', acknowledged: true })
    })
})

describe('errors', () => {
  for (const [http, message, reply] of [
    [400, 'Invalid character in transaction reference', { state: 'failed', reason: 'refused' }],
    [400, 'Amount must be an integer', { state: 'failed', reason: 'refused' }],
    [400, 'Email address is required to create charge', { state: 'failed', reason: 'refused' }],
    [400, 'Currency not supported by merchant', { state: 'failed', reason: 'account_trouble' }],
    [422, 'Invalid phone number format', { state: 'failed', reason: 'no_wallet' }],
    [400, 'Charge attempt cannot be fulfilled until 10 minutes', { state: 'unknown' }],
    [400, 'Please wait a few minutes and try again.', { state: 'unknown', restMs: 180_000 }],
    [429, 'Too Many Requests', { state: 'unknown', restMs: 180_000 }],
    [401, 'Format is Authorization Bearer [secret key]', { state: 'not_sent' }], // it does not know who asks
    [401, 'Invalid key', { state: 'not_sent' }],
    [500, 'Amount must be an integer', { state: 'unknown', words: 'HTTP 500' }],
    [400, 'Something that nobody has seen', { state: 'unknown', oddWord: 'Something that nobody has seen' }],
  ] as const) {
    for (const way of ['mtn_mobile_money', 'card'])
      test(`${way}: HTTP ${http} "${message}" to a start`, async () => {
        const { channel } = await openScripted({ charge: bad(http, message), page: bad(http, message) })
        expect(await start(channel, orderFor(way))).toMatchObject(reply)
      })
  }

  test('a page that says "too often" is heard, and one that says anything else is none', async () => {
    const page = { headers: { 'content-type': 'text/html', 'retry-after': '30' }, body: '<h1>Slow down</h1>' }
    const script: Script = { verify: { status: 429, ...page } }
    const { channel } = await openScripted(script)
    expect(await check(channel, orderFor('card'))).toMatchObject({ state: 'unknown', restMs: 30_000 })
    script.verify = { status: 403, ...page }
    await expect(check(channel, orderFor('card'))).rejects.toThrow('HTTP 403')
  })

  for (const message of ['Duplicate charge request for reference', 'Duplicate Transaction Reference'])
    test(`"${message}": how does it stand?`, async () => {
      const order = orderFor('mtn_mobile_money')
      const script: Script = { charge: bad(400, message) }
      const { channel } = await openScripted(script)
      for (const verify of [
        undefined,
        bad(404, 'Transaction reference not found'),
        bad(401, 'Invalid key'),
      ]) {
        script.verify = verify
        expect(await start(channel, order)).toMatchObject({ state: 'unknown', acknowledged: true })
      }
      script.verify = good({ reference: order.key, status: 'success', amount: 2500, currency: 'GHS' })
      expect(await start(channel, order)).toMatchObject({ state: 'paid', amount: 2500n })
    })

  for (const [http, message, reply] of [
    [404, 'Transaction reference not found', { state: 'absent' }],
    [400, 'Transaction reference not found.', { state: 'absent' }],
    [404, 'Cannot GET /transaction/verify', { state: 'unknown' }],
    [404, '', { state: 'unknown' }],
    [500, 'Transaction reference not found', { state: 'unknown' }],
    [200, 'Transaction reference not found', { state: 'unknown' }],
    [429, '', { state: 'unknown', restMs: 180_000 }],
  ] as const)
    test(`HTTP ${http} "${message}" to verify`, async () => {
      const { channel } = await openScripted({ verify: bad(http, message) })
      expect(await check(channel, orderFor('card'))).toMatchObject(reply)
    })

  for (const [http, message, isAgain] of [
    [400, 'Provided registration token is invalid', true],
    [400, 'Too many attempts. You have to wait for 5 minutes to try again', true],
    [400, 'Incorrect OTP', true],
    [400, 'Transaction cannot be completed. Session timeout exceeded.', false],
    [500, 'Provided registration token is invalid', false],
  ] as const)
    test(`HTTP ${http} "${message}" to a step: ${isAgain ? 'the same is asked again' : 'not known'}`, async () => {
      const order = orderFor('telecel_cash')
      const { channel } = await openScripted({ submit: bad(http, message) })
      const reply = await submit(channel, order, 'voucher', { voucher_code: '000000' })
      if (isAgain) expect(reply).toMatchObject({ state: 'pending', step: { name: 'voucher', text: message } })
      else expect(reply).toMatchObject({ state: 'unknown' })
      expect(isWrongCode({ http, message, isHandled: false, data: {} })).toBe(isAgain)
    })

  test('a session that timed out is as verify says', async () => {
    const order = orderFor('telecel_cash')
    const submitted = bad(400, 'Transaction cannot be completed. Session timeout exceeded.')
    const verify = good({ reference: order.key, status: 'failed', gateway_response: 'Session timed out' })
    const { channel } = await openScripted({ submit: submitted, verify })
    const reply = await submit(channel, order, 'voucher', { voucher_code: '123456' })
    expect(reply).toMatchObject({ state: 'failed', reason: 'no_answer' })
  })

  test('a step that Paystack has not', async () => {
    const { provider, channel } = await openScripted({})
    expect(await submit(channel, orderFor('card'), 'pin', { pin: '1234' })).toMatchObject({
      state: 'unknown',
    })
    expect(provider.asked).toEqual([])
  })

  test('what is private is not in a sample', () => {
    for (const [told, sample] of [
      ['Invalid phone 0244123456 of kofi@example.test', 'Invalid phone # of #'],
      [`Invalid key ${secretKey}`, 'Invalid key #'],
      ['Wallet 233-24-412-3456 is barred', 'Wallet # is barred'],
      ['x'.repeat(500), '#'],
      [undefined, 'undefined'],
    ])
      expect(sampleOf(told)).toBe(sample)
  })
})

describe('what is sent', () => {
  for (const [way, provider] of [
    ['mtn_mobile_money', 'mtn'],
    ['telecel_cash', 'vod'],
    ['airteltigo_money', 'atl'],
  ] as const)
    test(`${way}: the network, the number as people write it, pesewas`, async () => {
      const order = orderFor(way, { amount: 99_999_999_999_999n })
      const { provider: played, channel } = await openScripted({})
      await start(channel, order)
      expect(played.asked[0]).toMatchObject({ method: 'POST', path: '/charge' })
      expect(played.asked[0]?.headers).toMatchObject({
        authorization: `Bearer ${secretKey}`,
        'content-type': 'application/json',
      })
      expect(JSON.parse(played.asked[0]?.text ?? '')).toEqual({
        email: 'kofi@example.test',
        amount: 99_999_999_999_999,
        currency: 'GHS',
        reference: order.key,
        mobile_money: { phone: '0244123456', provider },
        metadata: {
          tx_reference: order.tx_reference,
          invoice_id: order.invoice_id,
          merchant_name: 'Ama Shop',
        },
      })
      expect(order.key).toMatch(/^[a-zA-Z0-9.=-]+$/) // that Paystack takes
    })

  test('card: the way back, and no other way on its page', async () => {
    const order = orderFor('card')
    const { provider, channel } = await openScripted({})
    await start(channel, order)
    expect(JSON.parse(provider.asked[0]?.text ?? '')).toMatchObject({
      channels: ['card'],
      callback_url: order.return_url,
      metadata: { cancel_action: order.return_url },
    })
  })

  test('without an email nothing is', async () => {
    const { provider, channel } = await openScripted({})
    expect(await start(channel, orderFor('card', { email: null }))).toMatchObject({ state: 'not_sent' })
    expect(provider.asked).toEqual([])
  })

  for (const [name, typed, path, body] of [
    ['otp', { otp: '123456' }, '/charge/submit_otp', { otp: '123456' }],
    ['voucher', { voucher_code: '654321' }, '/charge/submit_otp', { otp: '654321' }],
    ['birthday', { birthday: '1990-02-28' }, '/charge/submit_birthday', { birthday: '1990-02-28' }],
    ['phone', { phone: '+233244123456' }, '/charge/submit_phone', { phone: '0244123456' }],
  ] as const)
    test(`the step ${name}`, async () => {
      const order = orderFor('mtn_mobile_money')
      const { provider, channel } = await openScripted({})
      await submit(channel, order, name, typed)
      expect(provider.asked[0]).toMatchObject({ method: 'POST', path })
      expect(JSON.parse(provider.asked[0]?.text ?? '')).toEqual({ ...body, reference: order.key })
    })

  test('an address with a folder keeps it', async () => {
    const { provider } = await openScripted({})
    const open = paystack.open({ secret_key: secretKey, url: `${provider.url}/pay/stack/` }, tools())
    await check(open, orderFor('card')).catch(() => {})
    expect(provider.asked[0]?.path).toMatch(/^\/pay\/stack\/transaction\/verify\//)
  })
})

describe('why it failed', () => {
  for (const [sentence, ofWallet, ofCard] of [
    ['Insufficient Funds', 'insufficient_funds', 'insufficient_funds'],
    ['LOW_BALANCE_OR_PAYEE_LIMIT_REACHED_OR_NOT_ALLOWED', 'insufficient_funds', 'insufficient_funds'],
    ['Exceeds withdrawal limit', 'limit_reached', 'limit_reached'],
    ['Declined', 'declined', 'card_declined'],
    ['Do not honour', 'refused', 'card_declined'],
    ['Transaction was cancelled by the user', 'declined', 'not_completed'],
    ['Transaction timed out', 'no_answer', 'no_answer'],
    ['Expired Card', 'no_answer', 'card_expired'],
    ['Incorrect CVV', 'refused', 'wrong_cvv'],
    ['Token Not Generated. Customer Not Registered on Token Platform', 'wrong_voucher', 'not_authenticated'],
    ['Subscriber is not registered', 'no_wallet', 'refused'],
    ['Account is inactive', 'wallet_blocked', 'refused'],
    ['Issuer or switch inoperative', 'network_error', 'network_error'],
    ['Mercury is in retrograde', 'refused', 'refused'],
    ['', 'refused', 'refused'],
  ] as const) {
    test(`"${sentence}"`, () => {
      expect(reasonOf(sentence, false)).toBe(ofWallet)
      expect(reasonOf(sentence, true)).toBe(ofCard)
    })
  }

  test('the sentence is kept beside the reason', async () => {
    const order = orderFor('mtn_mobile_money')
    const data = {
      id: 7,
      reference: order.key,
      status: 'failed',
      gateway_response: '',
      message: 'Barred SIM',
    }
    const { channel } = await openScripted({ verify: good(data) })
    expect(await check(channel, order)).toEqual({
      state: 'failed',
      reason: 'wallet_blocked',
      provider_ref: '7',
      psp_response_msg: 'Barred SIM',
    })
  })

  test('what depends on the hour is no plain refusal', () => {
    for (const sentence of ['Invalid key', 'Declined', 'Too many attempts', 'Insufficient funds', ''])
      expect(refusalOf(sentence)).toBeUndefined()
  })
})

describe('the live check', () => {
  for (const [balance, isGood, words] of [
    [good([{ currency: 'GHS', balance: 0 }]), true, /takes the secret key, for test payments/],
    [good([{ currency: 'NGN', balance: 0 }]), false, /no balance in GHS/],
    [good([]), false, /no balance in GHS/],
    [good([null]), false, /no balance in GHS/],
    [bad(401, 'Invalid key'), false, /does not know the secret key/],
    [bad(403, ''), false, /does not let us in/],
    [bad(500, ''), false, /no clear answer: HTTP 500/],
    [{ status: 503, body: '<h1>Back soon</h1>' }, false, /not reached: HTTP 503/],
  ] as const)
    test(JSON.stringify(balance.body), async () => {
      const { channel } = await openScripted({ balance })
      const told = await channel.test?.(never)
      expect(told).toMatchObject({ isGood, words: expect.stringMatching(words) })
      expect(told?.words).not.toContain(secretKey)
    })

  test('nobody there', async () => {
    const { provider, channel } = await openScripted({})
    await provider.stop()
    expect(await channel.test?.(never)).toMatchObject({
      isGood: false,
      words: expect.stringMatching(/not reached/),
    })
  })
})
