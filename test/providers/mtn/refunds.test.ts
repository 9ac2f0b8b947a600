import assert from 'node:assert/strict'
import { describe, expect, test } from 'vitest'
import type { ProviderSettings } from '../../../src/core/provider/provider.ts'
import mtn from '../../../src/providers/mtn.ts'
import { createHealthMonitors } from '../../../src/runtime/providers/healthMonitor.ts'
import { guardAccount } from '../../../src/runtime/providers/guard.ts'
import type { Story } from '../../simulators/mtn/charges.ts'
import type { MtnOptions } from '../../simulators/mtn/mtn.ts'
import { refundOf } from '../refundOrder.ts'
import { tools } from '../stories/stage.ts'
import { disbursementSettings, mtnSettings, playMtn } from './play.ts'

// A paid request to pay, and a refund of it.
async function open(story?: Story, world: MtnOptions = {}, changes: ProviderSettings = {}) {
  const { played, raw, account, order } = await playMtn(world, { ...disbursementSettings, ...changes })
  const { refunds } = account
  assert.ok(refunds)
  const sent = order()
  await account.start(sent)
  await played.approve(sent.idempotency_key)
  if (story) played.refundRule({ story })
  const plain = refundOf(sent)
  const idempotency_key = refunds.newIdempotencyKey(plain.refund_reference) ?? ''
  const posts = () => played.asked.filter(({ method, path }) => method === 'POST' && path.endsWith('/refund'))
  return { played, raw, account, refunds, charge: sent, refund: { ...plain, idempotency_key }, posts }
}

const opened = (more: ProviderSettings) => mtn.open({ ...mtnSettings, ...more }, tools)

describe('settings', () => {
  test('without those of Disbursements there are no refunds', () => {
    expect(opened({}).refunds).toBeUndefined()
    expect(opened(disbursementSettings).refunds).toMatchObject({ isIdempotent: true, hasPartial: true })
  })

  for (const name of Object.keys(disbursementSettings))
    test(`all or none: ${name} is missing`, () =>
      expect(() => opened({ ...disbursementSettings, [name]: '' })).toThrow(`${name}: is missing`))

  test('a wrong one is named, never shown', () =>
    expect(() => opened({ ...disbursementSettings, disbursement_api_key: 'no spaces' })).toThrow(
      /^disbursement_api_key: must be of letters and digits, without spaces$/,
    ))

  test('they do not identify the business', () => expect(mtn.businessSettings).toEqual(['api_user']))
})

test('the request: our UUID, the charge by its reference, the product’s own token', async () => {
  const { refunds, refund, charge, posts, played } = await open()
  expect(await refunds.refund(refund)).toEqual({ state: 'pending' })
  const [post] = posts()
  expect(post?.headers).toMatchObject({
    'x-reference-id': refund.idempotency_key,
    'x-target-environment': 'mtnghana',
    'ocp-apim-subscription-key': disbursementSettings.disbursement_subscription_key,
  })
  expect(post?.headers).not.toHaveProperty('x-callback-url')
  expect(JSON.parse(post?.text ?? '')).toEqual({
    amount: '25.00',
    currency: 'GHS',
    externalId: refund.refund_reference,
    payerMessage: 'Ama s Shop',
    payeeNote: 'TG-000000-000000-000000',
    referenceIdToRefund: charge.idempotency_key,
  })
  expect(played.asked.map(({ path }) => path)).toContain('/disbursement/token/')
  expect(await refunds.checkRefund(refund)).toEqual({ state: 'pending' })
  expect(await refunds.checkRefund(refund)).toMatchObject({
    state: 'succeeded',
    refund: refund.refund_reference,
    amount: 2500n,
    currency: 'GHS',
    provider_ref: expect.stringMatching(/^\d+$/),
  })
})

test('the sandbox takes and names euros, and gets the same figure', async () => {
  const { refunds, refund, posts } = await open(undefined, { environment: 'sandbox' })
  await refunds.refund(refund)
  expect(JSON.parse(posts()[0]?.text ?? '')).toMatchObject({ amount: '25.00', currency: 'EUR' })
  await refunds.checkRefund(refund)
  expect(await refunds.checkRefund(refund)).toMatchObject({ state: 'succeeded', currency: 'GHS' })
})

test('with callbacks, the address of the refund is sent', async () => {
  const { refunds, refund, posts } = await open(undefined, {}, { callbacks: 'on' })
  await refunds.refund(refund)
  expect(posts()[0]?.headers['x-callback-url']).toBe(refund.callback_url)
})

const coded = (status: number, code: string) => ({ status, body: { code, message: '' } })

describe('the answer to a refund', () => {
  for (const [name, story, reply] of [
    ['accepted, then silent', { submit: 'cut' }, { state: 'unknown' }],
    ['refunded, then HTTP 500', { submit: coded(500, 'INTERNAL_PROCESSING_ERROR') }, { state: 'unknown' }],
    ['HTTP 503, and not taken', { submit: { status: 503 }, isTaken: false }, { state: 'unknown' }],
    ['HTTP 429', { submit: { status: 429 }, isTaken: false }, { state: 'unknown', restMs: 10_000 }],
    ['HTTP 403', { submit: { status: 403 }, isTaken: false }, { state: 'not_sent', isRefusal: true }],
    [
      'refused for the float',
      { submit: coded(500, 'NOT_ENOUGH_FUNDS'), isTaken: false },
      {
        state: 'failed',
        isRefused: true,
        provider_code: 'NOT_ENOUGH_FUNDS',
        words: expect.stringMatching(/float.*top it up, then retry/),
      },
    ],
    [
      'refused, and taken all the same',
      { submit: coded(500, 'PAYEE_NOT_FOUND'), ends: { status: 'SUCCESSFUL' } },
      { state: 'succeeded' },
    ],
    [
      'HTTP 400 without a code',
      { submit: { status: 400 }, isTaken: false },
      { state: 'failed', isRefused: true, words: 'MTN could not refund it.' },
    ],
  ] as const satisfies readonly (readonly [string, Story, object])[])
    test(name, async () => {
      const { refunds, refund } = await open(story)
      expect(await refunds.refund(refund)).toMatchObject(reply)
    })

  test('a refusal of a second sending proves nothing: the first may have arrived', async () => {
    const { refunds, refund } = await open({ submit: coded(500, 'NOT_ENOUGH_FUNDS'), isTaken: false })
    expect(await refunds.refund({ ...refund, is_first_sending: false })).toMatchObject({ state: 'unknown' })
  })

  test('a used reference: the status counts', async () => {
    const { refunds, refund, played } = await open({})
    await refunds.refund(refund)
    await played.endRefund({ key: refund.idempotency_key, status: 'SUCCESSFUL' })
    expect(await refunds.refund(refund)).toMatchObject({ state: 'succeeded' })
    expect(played.refundBook()).toHaveLength(1)
  })

  test('a charge that MTN does not find: refused', async () => {
    const { refunds, refund } = await open()
    const charge = { ...refund.charge, idempotency_key: refund.idempotency_key }
    expect(await refunds.refund({ ...refund, charge })).toMatchObject({
      state: 'failed',
      words: 'MTN does not find the charge.',
    })
  })
})

describe('the status', () => {
  for (const [name, story, reply] of [
    ['SUCCESSFUL', { ends: { status: 'SUCCESSFUL' } }, { state: 'succeeded', amount: 2500n }],
    ['PENDING', {}, { state: 'pending' }],
    ['CREATED', { first: 'CREATED' }, { state: 'pending' }],
    [
      'FAILED with an object as reason',
      { ends: { status: 'FAILED', reason: { code: 'PAYEE_LIMIT_REACHED', message: '' } } },
      { state: 'failed', provider_code: 'PAYEE_LIMIT_REACHED', words: expect.stringContaining('limit') },
    ],
    [
      'FAILED for an unknown reason',
      { ends: { status: 'FAILED', reason: 'BAD_WEATHER' } },
      { state: 'failed', provider_code: 'BAD_WEATHER', words: 'MTN could not refund it: BAD_WEATHER.' },
    ],
    ['FAILED without a reason', { ends: { status: 'FAILED' } }, { state: 'failed' }],
    [
      'another amount',
      { ends: { status: 'SUCCESSFUL' }, told: { amount: '24.00' } },
      { state: 'other_refund' },
    ],
    [
      'another refund',
      { ends: { status: 'SUCCESSFUL' }, told: { externalId: 'x' } },
      { state: 'other_refund' },
    ],
    [
      'another currency',
      { ends: { status: 'SUCCESSFUL' }, told: { currency: 'EUR' } },
      { state: 'other_refund' },
    ],
    [
      'an unknown status',
      { first: 'PARKED' },
      { state: 'unknown', acknowledged: true, provider_code: 'PARKED' },
    ],
    ['a phone number as status', { first: '0244123456' }, { state: 'unknown', acknowledged: true }],
    ['hidden', { hiddenReads: 1 }, { state: 'absent' }],
  ] as const satisfies readonly (readonly [string, Story, object])[])
    test(name, async () => {
      const { refunds, refund } = await open(story)
      await refunds.refund(refund)
      expect(await refunds.checkRefund(refund)).toMatchObject(reply)
    })

  test('an empty float fails the refund for good, and names the float; another refund may succeed after a top-up', async () => {
    const { refunds, refund, played } = await open({ ends: { status: 'SUCCESSFUL' } })
    played.float(10)
    await refunds.refund(refund)
    const failed = {
      state: 'failed',
      provider_code: 'NOT_ENOUGH_FUNDS',
      words: expect.stringMatching(/float.*top it up/),
    }
    expect(await refunds.checkRefund(refund)).toMatchObject(failed)
    played.float(1000)
    expect(await refunds.checkRefund(refund)).toMatchObject(failed)
    const retried = { ...refund, idempotency_key: refunds.newIdempotencyKey('') ?? '' }
    await refunds.refund(retried)
    expect(await refunds.checkRefund(retried)).toMatchObject({ state: 'succeeded' })
  })
})

test('a new token is requested after the old one has expired', async () => {
  const { refunds, refund, played } = await open()
  await refunds.checkRefund(refund)
  played.expireTokens()
  expect(await refunds.refund(refund)).toEqual({ state: 'pending' })
  played.expireTokens()
  expect(await refunds.checkRefund(refund)).toEqual({ state: 'pending' })
})

test('refused credentials of Disbursements: no refund is sent, payments continue, and the check names them', async () => {
  const { account, raw, refunds, refund, posts } = await open(
    undefined,
    {},
    { disbursement_api_key: 'wrong' },
  )
  expect(await refunds.refund(refund)).toMatchObject({
    state: 'not_sent',
    isRefusal: true,
    words: expect.stringContaining('for Disbursements'),
  })
  expect(posts()).toEqual([])
  expect(account.mayStart()).toBe(true)
  const check = await raw.checkCredentials?.(AbortSignal.timeout(20_000))
  expect(check).toMatchObject({
    isValid: false,
    isForRefunds: true,
    words: expect.stringMatching(/^For refunds: /),
  })
})

test('a probe closes the breaker of payments, although the credentials for refunds are refused', async () => {
  const { raw, charge } = await open(undefined, {}, { disbursement_api_key: 'wrong' })
  let now = 0
  const monitors = createHealthMonitors({ monotonicMs: () => now })
  const outage = { ...raw, timing: {}, check: async () => ({ state: 'unknown', words: 'HTTP 503' }) as const }
  const account = guardAccount(outage, undefined, monitors.account('mtn'))
  for (let times = 0; times < 5; times++) await account.check({ ...charge, attempt_id: `a${times}` })
  expect(account.mayStart()).toBe(false)
  now += 6000
  await account.probe()
  expect(monitors.account('mtn').circuitState()).toBe('closed')
})
