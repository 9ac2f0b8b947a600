import { describe, expect, test } from 'vitest'
import { isWrongCode } from '../../../src/providers/paystack/replies.ts'
import { paystackSample } from '../../../src/providers/paystack/client.ts'
import { check, orderFor, secretKey, start, submit } from './context.ts'
import { bad, good, openScripted, type Script } from './scripted.ts'

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
    [403, 'Your IP address is not allowed to make this call', { state: 'not_sent' }],
    [500, 'Amount must be an integer', { state: 'unknown', words: 'HTTP 500' }],
    [
      400,
      'Something that nobody has seen',
      { state: 'unknown', unknownCode: 'Something that nobody has seen' },
    ],
  ] as const) {
    for (const way of ['mtn_mobile_money', 'card'])
      test(`${way}: HTTP ${http} "${message}" to a start`, async () => {
        const { account } = await openScripted({ charge: bad(http, message), page: bad(http, message) })
        expect(await start(account, orderFor(way))).toMatchObject(reply)
      })
  }

  test('a page that says "too often" is heard, and one that says anything else is none', async () => {
    const page = { headers: { 'content-type': 'text/html', 'retry-after': '30' }, body: '<h1>Slow down</h1>' }
    const script: Script = { verify: { status: 429, ...page } }
    const { account } = await openScripted(script)
    expect(await check(account, orderFor('card'))).toMatchObject({ state: 'unknown', restMs: 30_000 })
    script.verify = { status: 502, ...page }
    await expect(check(account, orderFor('card'))).rejects.toThrow('HTTP 502')
  })

  for (const way of ['mtn_mobile_money', 'card'])
    for (const status of [401, 403])
      test(`${way}: HTTP ${status} with a page of HTML to a start: nothing was sent`, async () => {
        const said = { status, headers: { 'content-type': 'text/html' }, body: '<h1>Forbidden</h1>' }
        const { account } = await openScripted({ charge: said, page: said })
        const words = expect.stringContaining(String(status))
        expect(await start(account, orderFor(way))).toMatchObject({ state: 'not_sent', words })
      })

  for (const [message, more] of [
    ['Duplicate charge request for reference', {}],
    ['Duplicate Transaction Reference', {}],
    ['Something else', { code: 'duplicate_reference', type: 'validation_error' }],
    ['Transaction not found', { code: 'duplicate_reference' }], // the code counts before the sentence
  ] as const)
    test(`"${message}" ${JSON.stringify(more)}: how does it stand?`, async () => {
      const order = orderFor('mtn_mobile_money')
      const script: Script = { charge: bad(400, message, more) }
      const { account } = await openScripted(script)
      for (const verify of [
        undefined,
        bad(404, 'Transaction reference not found'),
        bad(401, 'Invalid key'),
      ]) {
        script.verify = verify
        expect(await start(account, order)).toMatchObject({ state: 'unknown', acknowledged: true })
      }
      script.verify = good({
        reference: order.idempotency_key,
        status: 'success',
        amount: 2500,
        currency: 'GHS',
      })
      expect(await start(account, order)).toMatchObject({ state: 'paid', amount: 2500n })
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
      const { account } = await openScripted({ verify: bad(http, message) })
      expect(await check(account, orderFor('card'))).toMatchObject(reply)
    })

  for (const [http, code, message, reply] of [
    [404, 'transaction_not_found', 'Sorry', { state: 'absent' }],
    [400, 'transaction_not_found', 'Sorry', { state: 'absent' }],
    [400, 'transaction_not_found', 'Duplicate Transaction Reference', { state: 'absent' }],
    [500, 'transaction_not_found', 'Sorry', { state: 'unknown', provider_code: 'transaction_not_found' }],
    [404, 'route_not_found', 'Sorry', { state: 'unknown', provider_code: 'route_not_found' }],
    [401, 'invalid_Key', 'Invalid key', { state: 'unknown', provider_code: 'invalid_Key' }],
    [400, 'invalid_Key', 'Sorry', { state: 'unknown', words: expect.stringContaining('secret key') }],
    [400, 'validation_error', 'Transaction reference not found.', { state: 'absent' }],
  ] as const)
    test(`HTTP ${http} with the code ${code} and "${message}" to verify`, async () => {
      const { account } = await openScripted({ verify: bad(http, message, { code }) })
      expect(await check(account, orderFor('card'))).toMatchObject(reply)
    })

  for (const [http, message, code, reply] of [
    [401, 'Invalid key', 'invalid_Key', { state: 'not_sent' }],
    [403, 'Forbidden', 'ip_not_allowed', { state: 'not_sent' }],
    [400, 'Amount must be an integer', 'validation_error', { state: 'failed', reason: 'refused' }],
    [400, 'Something new', 'something_new', { state: 'unknown', unknownCode: 'Something new' }],
    [500, 'Sorry', 'api_error', { state: 'unknown' }],
  ] as const)
    for (const way of ['mtn_mobile_money', 'card'])
      test(`${way}: the code ${code} of HTTP ${http} to a start is kept`, async () => {
        const said = bad(http, message, { code, type: 'validation_error' })
        const { account } = await openScripted({ charge: said, page: said })
        expect(await start(account, orderFor(way))).toMatchObject({ ...reply, provider_code: code })
      })

  for (const code of [5, null, {}, '', 'x'.repeat(200), 'two words'])
    test(`${JSON.stringify(code).slice(0, 20)} is no code`, async () => {
      const { account } = await openScripted({ charge: bad(400, 'Something new', { code }) })
      expect(await start(account, orderFor('mtn_mobile_money'))).not.toHaveProperty('provider_code')
    })

  test('a wrong code that ends the charge is not asked for again', async () => {
    const order = orderFor('telecel_cash')
    const data = { reference: order.idempotency_key, status: 'failed', gateway_response: 'Token is invalid' }
    const { account } = await openScripted({
      submit: bad(400, 'Provided registration token is invalid', { data }),
      verify: good(data),
      pending: good(data),
    })
    const reply = await submit(account, order, 'voucher', { voucher_code: '000000' })
    expect(reply).toMatchObject({ state: 'failed', reason: 'wrong_voucher' })
  })

  test('a start that failed at once is as verify says, whatever the HTTP status', async () => {
    const order = orderFor('mtn_mobile_money')
    const data = {
      reference: order.idempotency_key,
      status: 'failed',
      message: 'Invalid phone number format',
    }
    const script: Script = { verify: good(data), pending: good(data) }
    const { account } = await openScripted(script)
    for (const charge of [good(data), bad(400, 'Invalid phone number format', { data })]) {
      script.charge = charge
      expect(await start(account, order)).toMatchObject({ state: 'failed', reason: 'no_wallet' })
    }
    script.charge = bad(400, 'Failed', { data: { status: 'failed' } }) // it does not name the order
    script.verify = bad(404, 'Transaction reference not found')
    expect(await start(account, order)).toEqual({ state: 'absent' })
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
      const { account } = await openScripted({ submit: bad(http, message) })
      const reply = await submit(account, order, 'voucher', { voucher_code: '000000' })
      if (isAgain) expect(reply).toMatchObject({ state: 'pending', step: { name: 'voucher', text: message } })
      else expect(reply).toMatchObject({ state: 'unknown' })
      expect(isWrongCode({ http, message, isHandled: false, data: {} })).toBe(isAgain)
    })

  test('a session that timed out is as verify says', async () => {
    const order = orderFor('telecel_cash')
    const submitted = bad(400, 'Transaction cannot be completed. Session timeout exceeded.')
    const verify = good({
      reference: order.idempotency_key,
      status: 'failed',
      gateway_response: 'Session timed out',
    })
    const { account } = await openScripted({ submit: submitted, verify, pending: verify })
    const reply = await submit(account, order, 'voucher', { voucher_code: '123456' })
    expect(reply).toMatchObject({ state: 'failed', reason: 'no_answer' })
  })

  test('a step that Paystack has not', async () => {
    const { provider, account } = await openScripted({})
    expect(await submit(account, orderFor('card'), 'pin', { pin: '1234' })).toMatchObject({
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
      expect(paystackSample(told)).toBe(sample)
  })
})
