import { describe, expect, test } from 'vitest'
import { noteOf } from '../../../src/channels/mtn/request.ts'
import mtn from '../../../src/channels/mtn.ts'
import { tools } from '../stories/stage.ts'
import { mtnSettings, playMtn } from './play.ts'

const uuid4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('an order as MTN wants it: whole, with a length, and without a callback that nobody registered', async () => {
  const { channel, order, orders } = await playMtn()
  const sent = order()
  expect(sent.key).toMatch(uuid4)
  expect(await channel.start(sent)).toEqual({ state: 'pending' })
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
    'x-reference-id': sent.key,
    'x-target-environment': 'mtnghana',
    'content-length': String(asked?.text.length),
  })
  expect(asked?.headers['transfer-encoding']).toBeUndefined()
  expect(asked?.headers['x-callback-url']).toBeUndefined()
})

test('with callbacks the address goes along', async () => {
  const { channel, order, orders } = await playMtn({}, { callbacks: 'on' })
  const sent = order()
  await channel.start(sent)
  expect(orders()[0]?.headers['x-callback-url']).toBe(sent.callback_url)
})

for (const [text, note] of [
  ["Ama's Café & Söhne", 'Ama s Cafe Sohne'],
  ['東京', 'Payment'],
  ['', 'Payment'],
  ['x'.repeat(300), 'x'.repeat(128)],
  [`${'x'.repeat(127)} y`, 'x'.repeat(127)],
] as const)
  test(`a note of "${text.slice(0, 20)}"`, () => expect(noteOf(text)).toBe(note))

describe('an order that MTN does not take', () => {
  test('because our account is wrong: nothing was taken', async () => {
    for (const world of [{ currency: 'UGX' }, { callbackHost: 'other.test' }]) {
      const { played, channel, order } = await playMtn(world, { callbacks: 'on' })
      const sent = order()
      expect(await channel.start(sent)).toEqual({ state: 'failed', reason: 'account_trouble' })
      expect(played.charges(sent.key)).toBe(0)
    }
  })

  test('the same to an order that was sent before is not known: the first may be paid', async () => {
    const { played, channel, order } = await playMtn()
    const sent = order()
    played.rule({ key: sent.key, story: { submit: 'cut' } })
    expect(await channel.start(sent)).toMatchObject({ state: 'unknown' })
    const { channel: other } = await playMtn({ currency: 'UGX' }) // which never made this key
    expect(await other.start(sent)).toEqual({ state: 'unknown', words: 'HTTP 500 INVALID_CURRENCY' })
  })

  for (const [said, words] of [
    [{ status: 500, body: { code: 'INTERNAL_PROCESSING_ERROR' } }, 'HTTP 500 INTERNAL_PROCESSING_ERROR'],
    [{ status: 500, body: { code: 'SERVICE_UNAVAILABLE' } }, 'HTTP 500 SERVICE_UNAVAILABLE'],
    [{ status: 500, body: { code: 'NOT_ENOUGH_FUNDS' } }, 'HTTP 500 NOT_ENOUGH_FUNDS'],
    [{ status: 500, body: { code: '0241234567' } }, 'HTTP 500'],
    [{ status: 400 }, 'HTTP 400'],
    [{ status: 403, body: 'Forbidden' }, 'HTTP 403 with a text that is no JSON'],
    [{ status: 411, body: '<h2>Length Required</h2>' }, 'HTTP 411 with a text that is no JSON'],
    [{ status: 200, body: {} }, 'HTTP 200'],
  ] as const)
    test(`${words}: not known, and it was charged after all`, async () => {
      const { played, channel, order } = await playMtn()
      const sent = order()
      played.rule({ key: sent.key, story: { submit: said } })
      expect(await channel.start(sent)).toEqual({ state: 'unknown', words })
      await played.approve(sent.key)
      expect(await channel.check(sent)).toMatchObject({ state: 'paid' })
      expect(await channel.start(sent)).toMatchObject({ state: 'paid' })
      expect(played.charges(sent.key)).toBe(1)
    })

  test('after an error the reference is used up: MTN has it, and does not show it', async () => {
    const { played, channel, order } = await playMtn()
    const sent = order()
    played.rule({ key: sent.key, story: { submit: 'error', isTaken: false } })
    expect(await channel.start(sent)).toEqual({ state: 'unknown', words: 'HTTP 500' })
    expect(await channel.start(sent)).toEqual({
      state: 'unknown',
      words: 'HTTP 409 RESOURCE_ALREADY_EXIST',
      acknowledged: true,
    })
  })
})

describe('tokens', () => {
  test('one for all', async () => {
    const { played, channel, order } = await playMtn()
    await Promise.all(Array.from({ length: 10 }, () => channel.start(order())))
    expect(played.asked.filter(({ path }) => path.includes('token'))).toHaveLength(1)
  })

  for (const trouble of ['cut', 'page', 'maintenance', 'error', 'busy'] as const)
    test(`none, by "${trouble}": nothing of the order has left`, async () => {
      const { played, channel, order, orders } = await playMtn()
      played.weather = { trouble, at: '/collection/token/' }
      expect(await channel.start(order())).toMatchObject({ state: 'not_sent' })
      expect(await channel.check(order())).toMatchObject({ state: 'unknown' })
      expect(orders()).toEqual([])
    })

  test('short-lived ones are made anew before they end', async () => {
    const { played, channel, order } = await playMtn({ tokenSeconds: 1e-9 })
    expect(await channel.check(order())).toMatchObject({ state: 'unknown' })
    played.tokensLive(3600)
    expect(await channel.check(order())).toEqual({ state: 'absent' })
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
      const { played, channel, order, orders } = await playMtn({}, { check_holder: 'on' })
      played.holder({ number, result })
      const reply = await channel.start(order())
      expect(reply.state).toBe(state)
      if (reply.state === 'failed') expect(reply.reason).toBe('no_wallet')
      expect(orders()).toHaveLength(sends)
    })

  test('it is not asked of an order that was sent before: that may be paid', async () => {
    const { played, channel, order } = await playMtn({}, { check_holder: 'on' })
    const sent = order()
    played.rule({ key: sent.key, story: { submit: 'cut' } })
    await channel.start(sent)
    played.holder({ number, result: false })
    expect(await channel.start(sent)).toMatchObject({ state: 'pending' })
  })

  test('nor where nobody wants that', async () => {
    const { played, channel, order } = await playMtn()
    played.holder({ number, result: false })
    expect(await channel.start(order())).toMatchObject({ state: 'pending' })
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
    const told = await raw.test?.(AbortSignal.timeout(30_000))
    expect(told).toMatchObject({ isGood: false, words: expect.stringContaining('the proxy: ') })
    expect(told?.words).not.toContain('secret-word')
  })
})
