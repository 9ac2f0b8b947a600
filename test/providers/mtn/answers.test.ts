import { describe, expect, test } from 'vitest'
import { playMtn } from './play.ts'

// What MTN says, and what we make of it.
describe('a no, by its reason', () => {
  for (const [word, reason, odd] of [
    ['NOT_ENOUGH_FUNDS', 'insufficient_funds'],
    ['LOW_BALANCE_OR_PAYEE_LIMIT_REACHED_OR_NOT_ALLOWED', 'insufficient_funds'],
    ['PAYER_LIMIT_REACHED', 'limit_reached'],
    ['PAYER_NOT_FOUND', 'no_wallet'],
    ['APPROVAL_REJECTED', 'declined'],
    ['PAYMENT_NOT_APPROVED', 'declined'],
    ['EXPIRED', 'no_answer'],
    ['COULD_NOT_PERFORM_TRANSACTION', 'no_answer'],
    ['SENDER_ACCOUNT_NOT_ACTIVE', 'wallet_blocked'],
    ['PAYEE_NOT_FOUND', 'account_trouble'],
    ['PAYEE_NOT_ALLOWED_TO_RECEIVE', 'account_trouble'],
    ['PAYEE_LIMIT_REACHED', 'account_trouble'],
    ['NOT_ALLOWED', 'account_trouble'],
    ['INVALID_CURRENCY', 'account_trouble'],
    ['NOT_ALLOWED_TARGET_ENVIRONMENT', 'account_trouble'],
    ['INVALID_CALLBACK_URL_HOST', 'account_trouble'],
    ['INTERNAL_PROCESSING_ERROR', 'provider_error'],
    ['SERVICE_UNAVAILABLE', 'provider_error'],
    ['TRANSACTION_CANCELED', 'refused'],
    ['TRANSACTION_NOT_FOUND', 'refused'],
    ['VALIDATION_ERROR', 'refused'],
    ['A_WORD_OF_TOMORROW', 'refused', 'A_WORD_OF_TOMORROW'], // FAILED is a no, whatever its reason; operators see it
    ['WALLET_TIER_7_NOT_ELIGIBLE', 'refused', 'WALLET_TIER_7_NOT_ELIGIBLE'], // a code may have digits
    [`X${'Y'.repeat(99)}`, 'refused', 'X'.padEnd(60, 'Y')], // 100 characters are kept of a code
    [undefined, 'refused', 'that is not a code'],
    [17, 'refused', 'that is not a code'],
  ] as const)
    test(`${word}: ${reason}, as a word and as an object`, async () => {
      const { played, account, order } = await playMtn()
      for (const said of [word, { code: word, message: 'for people' }]) {
        const sent = order()
        await account.start(sent)
        await played.end({ key: sent.idempotency_key, status: 'FAILED', reason: said })
        expect(await account.check(sent)).toEqual({
          state: 'failed',
          reason,
          ...(typeof word === 'string' && { provider_code: word }),
          ...(odd && { unknownCode: odd }),
        })
      }
    })
})

test('CREATED and PENDING are waited for, other words are not known', async () => {
  const { played, account, order } = await playMtn()
  for (const [first, state] of [
    ['CREATED', 'pending'],
    ['PENDING', 'pending'],
    ['successful', 'unknown'],
    ['SUCCESS', 'unknown'],
    ['233241234567', 'unknown'],
  ] as const) {
    const sent = order()
    played.rule({ key: sent.idempotency_key, story: { first } })
    await account.start(sent)
    expect(await account.check(sent)).toMatchObject({ state })
  }
  const sent = order()
  played.rule({ key: sent.idempotency_key, story: { first: 'ON_ITS_WAY' } })
  await account.start(sent)
  expect(await account.check(sent)).toEqual({
    state: 'unknown',
    words: 'status ON_ITS_WAY',
    acknowledged: true, // whatever it means, MTN has the order
    unknownCode: 'ON_ITS_WAY',
    provider_code: 'ON_ITS_WAY',
  })
})

test('a yes without a name is for nobody; without a reference it is one all the same', async () => {
  const { played, account, order } = await playMtn()
  const [nameless, bare] = [order(), order()]
  played.rule({ key: nameless.idempotency_key, story: { told: { externalId: null } } })
  played.rule({ key: bare.idempotency_key, story: { told: { financialTransactionId: undefined } } })
  for (const sent of [nameless, bare]) {
    await account.start(sent)
    await played.approve(sent.idempotency_key)
  }
  expect(await account.check(nameless)).toMatchObject({ state: 'other_order' })
  const { attempt_id } = bare
  expect(await account.check(bare)).toEqual({
    state: 'paid',
    order: attempt_id,
    amount: 2500n,
    currency: 'GHS',
  })
})

for (const told of [{ amount: 'lots' }, { amount: undefined }, { amount: '25.001' }, { currency: 7 }])
  test(`SUCCESSFUL with ${JSON.stringify(told)} is not paid: the amount needs an operator`, async () => {
    const { played, account, order } = await playMtn()
    const sent = order()
    played.rule({ key: sent.idempotency_key, story: { told } })
    await account.start(sent)
    await played.approve(sent.idempotency_key)
    expect(await account.check(sent)).toMatchObject({
      state: 'paid_mismatch',
      order: sent.attempt_id,
      words: expect.stringMatching(/^MTN says SUCCESSFUL/),
      provider_ref: expect.stringMatching(/^\d+$/),
    })
  })

for (const currency of [undefined, null, ''])
  test(`SUCCESSFUL on a live account with the currency ${JSON.stringify(currency)} is not paid: none is assumed`, async () => {
    const { played, account, raw, order } = await playMtn()
    expect(raw.mode).toBe('live')
    const sent = order()
    played.rule({ key: sent.idempotency_key, story: { told: { currency } } })
    await account.start(sent)
    await played.approve(sent.idempotency_key)
    expect(await account.check(sent)).toMatchObject({ state: 'paid_mismatch', order: sent.attempt_id })
  })

for (const status of [404, 400] as const)
  test(`not found as HTTP ${status} is absent`, async () => {
    const { played, account, order, raw } = await playMtn()
    played.notFoundAs(status)
    expect(await account.check(order())).toEqual({ state: 'absent' })
    expect(await raw.checkCredentials?.(AbortSignal.timeout(10_000))).toMatchObject({ isValid: true })
  })

test('not in sight yet is absent, and then it is there', async () => {
  const { played, account, order } = await playMtn()
  const sent = order()
  played.rule({ key: sent.idempotency_key, story: { hiddenReads: 2 } })
  await account.start(sent)
  const states = []
  for (let times = 0; times < 3; times++) states.push((await account.check(sent)).state)
  expect(states).toEqual(['absent', 'absent', 'pending'])
})

test('a 404 of something on the way is no word of MTN', async () => {
  const { played, account, order } = await playMtn()
  const sent = order()
  await account.start(sent)
  expect(await account.check({ ...sent, idempotency_key: `${sent.idempotency_key}/more` })).toEqual({
    state: 'absent',
  })
  played.weather = { trouble: 'maintenance' }
  expect(await account.check(sent)).toEqual({
    state: 'unknown',
    words: 'HTTP 503 with a text that is not JSON',
  })
})

describe('the numbers that MTN publishes for its sandbox', () => {
  for (const [end, start, then] of [
    ['450', 'pending', { state: 'failed', reason: 'provider_error' }],
    ['451', 'pending', { state: 'failed', reason: 'declined' }],
    ['452', 'pending', { state: 'failed', reason: 'no_answer' }],
    ['453', 'pending', { state: 'pending' }],
    ['454', 'pending', { state: 'pending' }],
    ['455', 'pending', { state: 'failed', reason: 'no_wallet' }],
    ['456', 'pending', { state: 'failed', reason: 'account_trouble' }],
    ['457', 'pending', { state: 'failed', reason: 'account_trouble' }],
    ['458', 'failed', { state: 'absent' }],
    ['459', 'failed', { state: 'absent' }],
    ['460', 'failed', { state: 'absent' }],
    ['461', 'unknown', { state: 'absent' }],
    ['462', 'unknown', { state: 'absent' }],
    ['463', 'pending', { state: 'failed', reason: 'no_answer' }],
    ['464', 'pending', { state: 'failed', reason: 'refused' }],
  ] as const)
    test(`46733123${end}: ${start}, then ${then.state}`, async () => {
      const { account, order } = await playMtn({ environment: 'sandbox' })
      const sent = order(`+46733123${end}`)
      expect((await account.start(sent)).state).toBe(start)
      expect(await account.check(sent)).toMatchObject(then)
    })

  test('454 says CREATED for a while, then it is paid', async () => {
    const { account, order } = await playMtn({ environment: 'sandbox' })
    const sent = order('+46733123454')
    await account.start(sent)
    for (let times = 0; times < 3; times++) await account.check(sent)
    expect(await account.check(sent)).toMatchObject({ state: 'paid', amount: 2500n, currency: 'GHS' })
  })
})

describe('the sandbox knows euros alone', () => {
  test('cedis travel as euros of the same figure, and come back as cedis', async () => {
    const { played, raw, account, order, orders } = await playMtn({ environment: 'sandbox' })
    expect(raw.mode).toBe('test')
    const sent = order()
    await account.start(sent)
    expect(JSON.parse(orders()[0]?.text ?? '')).toMatchObject({ amount: '25.00', currency: 'EUR' })
    expect(await account.check(sent)).toMatchObject({ state: 'paid', amount: 2500n, currency: 'GHS' })
    expect(played.charges(sent.idempotency_key)).toBe(1)
  })

  test('where the currency has no decimals, neither has the figure', async () => {
    const uganda = { environment: 'mtnuganda', currency: 'UGX' }
    const { played, account, order, orders } = await playMtn(uganda, { currency: 'UGX' })
    const sent = order('+256772123456', { amount: 5000n, currency: 'UGX' })
    await account.start(sent)
    expect(JSON.parse(orders()[0]?.text ?? '')).toMatchObject({ amount: '5000', currency: 'UGX' })
    await played.approve(sent.idempotency_key)
    expect(await account.check(sent)).toMatchObject({ state: 'paid', amount: 5000n, currency: 'UGX' })
  })

  test('elsewhere a currency is told as it is', async () => {
    const { played, raw, account, order } = await playMtn()
    expect(raw.mode).toBe('live')
    const sent = order()
    played.rule({ key: sent.idempotency_key, story: { told: { currency: 'EUR' } } })
    await account.start(sent)
    await played.approve(sent.idempotency_key)
    expect(await account.check(sent)).toMatchObject({ state: 'paid', currency: 'EUR' })
  })
})
