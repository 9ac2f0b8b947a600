import { describe, expect, test } from 'vitest'
import { mtnNote } from '../../../src/providers/mtn/client.ts'
import mtn from '../../../src/providers/mtn.ts'
import { tools } from '../stories/stage.ts'
import { mtnSettings, playMtn } from './play.ts'

const uuid4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('an order as MTN wants it: whole, with a length, and without a callback that nobody registered', async () => {
  const { account, order, orders } = await playMtn()
  const sent = order()
  expect(sent.idempotency_key).toMatch(uuid4)
  expect(await account.start(sent)).toEqual({ state: 'pending' })
  const [asked] = orders()
  expect(JSON.parse(asked?.text ?? '')).toEqual({
    amount: '25.00',
    currency: 'GHS',
    externalId: sent.attempt_id,
    payer: { partyIdType: 'MSISDN', partyId: '233241234567' },
    payerMessage: 'Ama s Shop',
    payeeNote: 'TG-000000-000000-000000',
  })
  expect(asked?.headers).toMatchObject({
    'x-reference-id': sent.idempotency_key,
    'x-target-environment': 'mtnghana',
    'content-length': String(asked?.text.length),
  })
  expect(asked?.headers['transfer-encoding']).toBeUndefined()
  expect(asked?.headers['x-callback-url']).toBeUndefined()
})

test('with callbacks the address goes along', async () => {
  const { account, order, orders } = await playMtn({}, { callbacks: 'on' })
  const sent = order()
  await account.start(sent)
  expect(orders()[0]?.headers['x-callback-url']).toBe(sent.callback_url)
})

for (const [text, note] of [
  ["Ama's Café & Söhne", 'Ama s Cafe Sohne'],
  ['東京', 'Payment'],
  ['', 'Payment'],
  ['x'.repeat(300), 'x'.repeat(128)],
  [`${'x'.repeat(127)} y`, 'x'.repeat(127)],
] as const)
  test(`a note of "${text.slice(0, 20)}"`, () => expect(mtnNote(text)).toBe(note))

const codes = {
  funds: 'LOW_BALANCE_OR_PAYEE_LIMIT_REACHED_OR_NOT_ALLOWED',
  payer: 'PAYER_NOT_FOUND',
}
const rejectedPage = { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>Request Rejected' }
const coded = (status: number, code: string) => ({ status, body: { code, message: '' } })

describe('an order that MTN refuses', () => {
  for (const [said, reason, provider_code, isUnknownCode] of [
    [coded(500, codes.payer), 'no_wallet', codes.payer],
    [coded(404, codes.payer), 'no_wallet', codes.payer],
    [coded(500, codes.funds), 'insufficient_funds', codes.funds],
    [coded(500, 'NOT_ENOUGH_FUNDS'), 'insufficient_funds', 'NOT_ENOUGH_FUNDS'],
    [coded(500, 'PAYER_LIMIT_REACHED'), 'limit_reached', 'PAYER_LIMIT_REACHED'],
    [coded(500, 'SENDER_ACCOUNT_NOT_ACTIVE'), 'wallet_blocked', 'SENDER_ACCOUNT_NOT_ACTIVE'],
    [coded(500, 'PAYEE_NOT_FOUND'), 'account_trouble', 'PAYEE_NOT_FOUND'],
    [coded(500, 'PAYEE_NOT_ALLOWED_TO_RECEIVE'), 'account_trouble', 'PAYEE_NOT_ALLOWED_TO_RECEIVE'],
    [coded(500, 'NOT_ALLOWED'), 'account_trouble', 'NOT_ALLOWED'],
    [coded(500, 'INVALID_CURRENCY'), 'account_trouble', 'INVALID_CURRENCY'],
    [coded(400, 'VALIDATION_ERROR'), 'refused', 'VALIDATION_ERROR'],
    [coded(400, 'A_WORD_OF_TOMORROW'), 'refused', 'A_WORD_OF_TOMORROW', true],
    [{ status: 400 }, 'refused', 'HTTP 400', true],
    [{ status: 400, body: 'Bad Request' }, 'refused', 'HTTP 400', true],
    [rejectedPage, 'refused', 'HTTP 200, an HTML page', true],
  ] as const)
    for (const isUsedUp of [true, false])
      for (const notFound of [404, 400] as const)
        test(`${provider_code} (HTTP ${said.status}), used up ${isUsedUp}, not found as ${notFound}: ${reason}`, async () => {
          const { played, account, order } = await playMtn()
          played.notFoundAs(notFound)
          const sent = order()
          played.rule({ key: sent.idempotency_key, story: { submit: said, isTaken: false, isUsedUp } })
          expect(await account.start(sent)).toEqual({
            state: 'failed',
            reason,
            isStartRefused: true,
            provider_code,
            ...(isUnknownCode && { unknownCode: provider_code }),
          })
          expect(played.charges(sent.idempotency_key)).toBe(0)
        })

  test('because our account is wrong: nothing was taken', async () => {
    for (const world of [{ currency: 'UGX' }, { callbackHost: 'other.test' }]) {
      const { played, account, order } = await playMtn(world, { callbacks: 'on' })
      const sent = order()
      expect(await account.start(sent)).toMatchObject({ state: 'failed', reason: 'account_trouble' })
      expect(played.charges(sent.idempotency_key)).toBe(0)
    }
  })

  for (const [ends, expected] of [
    [undefined, { state: 'pending' }],
    [{ status: 'SUCCESSFUL' }, { state: 'paid', amount: 2500n }],
    [
      { status: 'FAILED', reason: 'APPROVAL_REJECTED' },
      { state: 'failed', reason: 'declined' },
    ],
  ] as const)
    for (const said of [coded(500, codes.payer), { status: 400 }, rejectedPage])
      test(`HTTP ${said.status}, and the status of the order wins: ${expected.state}`, async () => {
        const { played, account, order } = await playMtn()
        const sent = order()
        played.rule({ key: sent.idempotency_key, story: { submit: said, ends } })
        const reply = await account.start(sent)
        expect(reply).toMatchObject(expected)
        expect(reply).not.toHaveProperty('isStartRefused')
        expect(played.charges(sent.idempotency_key)).toBe(1)
      })

  for (const [said, provider_code] of [
    [coded(500, codes.payer), codes.payer],
    [{ status: 400 }, 'HTTP 400'],
    [rejectedPage, 'HTTP 200, an HTML page'],
  ] as const)
    test(`${provider_code} to an order that was sent before is not known: the first may be paid`, async () => {
      const { played, account, order } = await playMtn()
      const sent = order(undefined, { is_first_sending: false })
      played.rule({ key: sent.idempotency_key, story: { submit: said, isTaken: false } })
      expect(await account.start(sent)).toMatchObject({ state: 'unknown', provider_code })
    })

  for (const trouble of ['maintenance', 'cut', 'busy', 'page'] as const)
    test(`refused, and the question after it is lost by "${trouble}": not known, with the code`, async () => {
      const { played, account, order } = await playMtn()
      const sent = order()
      await account.check(order()) // so that there is a token
      played.rule({ key: sent.idempotency_key, story: { submit: coded(500, codes.payer), isTaken: false } })
      played.weather = { trouble, at: '/collection/v1_0/requesttopay/' }
      expect(await account.start(sent)).toMatchObject({
        state: 'unknown',
        words: expect.stringMatching(/^HTTP 500 PAYER_NOT_FOUND, then /),
        provider_code: codes.payer,
        ...(trouble === 'busy' && { restMs: 7000 }),
      })
    })
})

describe('who is refused has sent nothing', () => {
  for (const [said, words] of [
    [{ status: 401, body: { message: 'Unauthorized' } }, 'HTTP 401'],
    [{ status: 403, body: 'Forbidden' }, 'HTTP 403 with a text that is not JSON'],
    [{ status: 403, body: {} }, 'HTTP 403'],
    [coded(403, 'NOT_ALLOWED'), 'HTTP 403 NOT_ALLOWED'],
  ] as const)
    test(words, async () => {
      const { played, account, order, orders } = await playMtn()
      const sent = order()
      played.rule({ key: sent.idempotency_key, story: { submit: said, isTaken: false, isUsedUp: false } })
      expect(await account.start(sent)).toMatchObject({ state: 'not_sent', words })
      expect(orders()).toHaveLength(said.status === 401 ? 2 : 1) // a token is made anew once
    })

  test('401, and then there is no token', async () => {
    const { played, account, order } = await playMtn()
    await account.check(order())
    played.expireTokens()
    played.weather = { trouble: 'maintenance', at: '/collection/token/' }
    expect(await account.start(order())).toMatchObject({
      state: 'not_sent',
      words: expect.stringContaining('HTTP 401, then: '),
    })
  })
})

describe('an order whose answer says nothing for certain', () => {
  for (const [said, words, provider_code, isUnknownCode] of [
    [
      coded(500, 'INTERNAL_PROCESSING_ERROR'),
      'HTTP 500 INTERNAL_PROCESSING_ERROR',
      'INTERNAL_PROCESSING_ERROR',
    ],
    [coded(500, 'SERVICE_UNAVAILABLE'), 'HTTP 500 SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE'],
    [coded(500, 'A_WORD_OF_TOMORROW'), 'HTTP 500 A_WORD_OF_TOMORROW', 'A_WORD_OF_TOMORROW', true],
    [coded(500, '0241234567'), 'HTTP 500'],
    [coded(500, 'PAYER_0241234567_UNKNOWN'), 'HTTP 500'],
    [{ status: 502, body: '<html>' }, 'HTTP 502 with a text that is not JSON'],
    [{ status: 411, body: '<h2>Length Required</h2>' }, 'HTTP 411 with a text that is not JSON'],
    [{ status: 200, body: {} }, 'HTTP 200'],
  ] as const)
    test(`${words}: not known, and it was charged after all`, async () => {
      const { played, account, order } = await playMtn()
      const sent = order()
      played.rule({ key: sent.idempotency_key, story: { submit: said } })
      expect(await account.start(sent)).toEqual({
        state: 'unknown',
        words,
        ...(provider_code && { provider_code }),
        ...(isUnknownCode && { unknownCode: provider_code }),
      })
      await played.approve(sent.idempotency_key)
      expect(await account.check(sent)).toMatchObject({ state: 'paid' })
      expect(await account.start(sent)).toMatchObject({ state: 'paid' })
      expect(played.charges(sent.idempotency_key)).toBe(1)
    })

  test('the reference is in use, and MTN does not show it: it has the order, unless it had refused it', async () => {
    const { played, account, order } = await playMtn()
    const sent = order()
    played.rule({ key: sent.idempotency_key, story: { submit: 'error', isTaken: false } })
    expect(await account.start(sent)).toEqual({ state: 'unknown', words: 'HTTP 500' })
    const again = { ...sent, is_first_sending: false }
    const inUse = { state: 'unknown', words: 'HTTP 409 RESOURCE_ALREADY_EXIST' }
    expect(await account.start(again)).toEqual({ ...inUse, acknowledged: true })
    expect(await account.start({ ...again, provider_code: 'SERVICE_UNAVAILABLE' })).toEqual(inUse)
  })
})

test('live, a callback address without TLS is left out: MTN would refuse the order', async () => {
  const { account, order, orders } = await playMtn({}, { callbacks: 'on' })
  const callback_url = 'http://pay.example.test/callbacks/c0ffee'
  expect(await account.start(order(undefined, { callback_url }))).toEqual({ state: 'pending' })
  expect(orders()[0]?.headers['x-callback-url']).toBeUndefined()
})

describe('tokens', () => {
  test('one for all', async () => {
    const { played, account, order } = await playMtn()
    await Promise.all(Array.from({ length: 10 }, () => account.start(order())))
    expect(played.asked.filter(({ path }) => path.includes('token'))).toHaveLength(1)
  })

  for (const trouble of ['cut', 'page', 'maintenance', 'error', 'busy'] as const)
    test(`none, by "${trouble}": nothing of the order has left`, async () => {
      const { played, account, order, orders } = await playMtn()
      played.weather = { trouble, at: '/collection/token/' }
      expect(await account.start(order())).toMatchObject({ state: 'not_sent' })
      expect(await account.check(order())).toMatchObject({ state: 'unknown' })
      expect(orders()).toEqual([])
    })

  test('short-lived ones are made anew before they end', async () => {
    const { played, account, order } = await playMtn({ tokenSeconds: 1e-9 })
    expect(await account.check(order())).toMatchObject({ state: 'unknown' })
    played.tokensLive(3600)
    expect(await account.check(order())).toEqual({ state: 'absent' })
  })
})

describe('whether the number has a wallet', () => {
  const number = '233241234567'
  for (const [result, state, sends] of [
    [false, 'failed', 0],
    ['false', 'failed', 0],
    [true, 'pending', 1],
    ['no', 'pending', 1],
    [null, 'pending', 1],
    ['broken', 'pending', 1],
  ] as const)
    test(`"${result}": ${state}`, async () => {
      const { played, account, order, orders } = await playMtn({}, { check_holder: 'on' })
      played.holder({ number, result })
      const reply = await account.start(order())
      expect(reply.state).toBe(state)
      if (reply.state === 'failed') expect(reply.reason).toBe('no_wallet')
      expect(orders()).toHaveLength(sends)
    })

  test('it is not asked of an order that was sent before: that may be paid', async () => {
    const { played, account, order } = await playMtn({}, { check_holder: 'on' })
    const sent = order()
    played.rule({ key: sent.idempotency_key, story: { submit: 'cut' } })
    await account.start(sent)
    played.holder({ number, result: false })
    expect(await account.start({ ...sent, is_first_sending: false })).toMatchObject({ state: 'pending' })
  })

  test('nor where nobody wants that', async () => {
    const { played, account, order } = await playMtn()
    played.holder({ number, result: false })
    expect(await account.start(order())).toMatchObject({ state: 'pending' })
  })
})

const openWith = (changes: object) => mtn.open({ ...mtnSettings, ...changes }, tools)

describe('settings', () => {
  for (const [changes, words] of [
    [{ environment: 'Sand Box' }, 'environment: '],
    [{ currency: 'XXX' }, 'currency: '],
    [{ currency: 'EUR' }, 'currency: mtnghana takes GHS'],
    [{ url: 'momo' }, 'url: '],
    [{ callbacks: 'yes' }, 'callbacks: '],
    [{ check_holder: '' }, 'check_holder: '],
    [{ api_user: 'a:b-secret' }, 'api_user: '],
    [{ api_key: 'a b-secret' }, 'api_key: '],
    [{ subscription_key: 'a\nb-secret' }, 'subscription_key: '],
  ] as const)
    test(`${JSON.stringify(changes)} is wrong, by its name`, () => {
      expect(() => openWith(changes)).toThrow(words)
      expect(() => openWith(changes)).not.toThrow('secret')
    })

  test('a proxy that is not there is told', async () => {
    const { raw } = await playMtn({}, {}, { proxy: 'http://user:secret-word@127.0.0.1:1' })
    const told = await raw.checkCredentials?.(AbortSignal.timeout(30_000))
    expect(told).toMatchObject({ isValid: false, words: expect.stringContaining('the proxy: ') })
    expect(told?.words).not.toContain('secret-word')
  })
})
