import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { languages } from '../../src/core/languages/languages.ts'
import {
  chooseRefundEnding,
  isFinalFailure,
  refundAnswer,
  refundCallbacks,
  refundEndings,
  refundEndingsByAmount,
  type RefundEndingName,
  refundStateAt,
} from '../../src/sandbox/refund.ts'
import type { SandboxRefund } from '../../src/store/sandboxRefunds.ts'
import { key, openTestSandbox, type TestSandbox } from './context.ts'

const noon = new Date('2026-11-18T12:00:00Z')
const after = (ms: number) => new Date(noon.getTime() + ms)

const rowOf = (ending: RefundEndingName): SandboxRefund => ({
  merchant_id: 'm0m0m0m0m0',
  reference: 'm0m0m0m0m0refund',
  charge: 'm0m0m0m0m0charge',
  amount: 2500n,
  currency: 'GHS',
  ending,
  is_final_failure: isFinalFailure(ending),
  callback_url: 'http://127.0.0.1/',
  created_at: noon,
})

const statuses = (ending: RefundEndingName) =>
  refundCallbacks(rowOf(ending)).map(({ answer }) => answer.status)

describe('the outcomes', () => {
  for (const [ending, ...states] of [
    ['succeeds', [0, 'PENDING'], [600, 'SUCCESSFUL']],
    ['delayed', [600, 'PENDING'], [15_000, 'SUCCESSFUL']],
    ['fails', [600, 'FAILED']],
    ['needs_action', [600, 'NEEDS_ACTION'], [86_400_000, 'NEEDS_ACTION']],
    ['needs_action_then_succeeds', [600, 'NEEDS_ACTION'], [20_000, 'SUCCESSFUL']],
    ['error_then_succeeds', [0, 'PENDING'], [2000, 'SUCCESSFUL']],
    ['silent_then_succeeds', [7999, 'PENDING'], [8000, 'SUCCESSFUL']],
    ['cut_then_fails', [2000, 'FAILED']],
    ['fails_then_succeeds', [1000, 'FAILED'], [16_000, 'SUCCESSFUL']],
    ['other_amount', [600, 'SUCCESSFUL']],
    ['stays_pending', [86_400_000, 'PENDING']],
    ['told_often', [600, 'SUCCESSFUL']],
  ] as const)
    test(ending, () => {
      for (const [ms, status] of states)
        expect(refundStateAt(rowOf(ending), after(ms))).toMatchObject({ status })
    })

  test('each has an amount; every other amount succeeds', () => {
    expect(new Set(['succeeds', ...Object.values(refundEndingsByAmount)])).toEqual(
      new Set(Object.keys(refundEndings)),
    )
    for (const amount of [1n, 10n, 23n, 1100n, 2500n]) expect(chooseRefundEnding(amount)).toBe('succeeds')
  })

  test('the documentation lists each amount', () => {
    const page = readFileSync('docs/sandbox.md', 'utf8')
    for (const amount of Object.keys(refundEndingsByAmount)) expect(page).toContain(`\n| 0.${amount} | `)
  })

  test('another amount is reported when it has succeeded', () => {
    const row = rowOf('other_amount')
    expect(refundAnswer(row, { status: 'PENDING' })).toMatchObject({ amount: '25.00' })
    expect(refundAnswer(row, { status: 'SUCCESSFUL' })).toMatchObject({ amount: '25.01' })
  })

  test('callbacks: one for each step, none, or several with a stale one at the end', () => {
    expect(statuses('fails_then_succeeds')).toEqual(['FAILED', 'SUCCESSFUL'])
    expect(statuses('error_then_succeeds')).toEqual([])
    expect(statuses('told_often')).toEqual(['PENDING', 'SUCCESSFUL', 'SUCCESSFUL', 'PENDING'])
  })
})

describe('the API', () => {
  let house: TestSandbox
  let made = 0
  beforeAll(async () => {
    house = await openTestSandbox()
  })
  afterAll(() => house.stop())

  const newReference = () => `m0m0m0m0m0n${++made}`.padEnd(36, 'x')
  const authorization = `Bearer ${key}`

  async function call(path: string, body?: object, reference = newReference(), bearer = authorization) {
    const answer = await fetch(`${house.url}/sandbox/provider${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: bearer, 'x-reference-id': reference, 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
    })
    return { http: answer.status, answer: (await answer.json()) as Record<string, unknown>, reference }
  }

  // A paid charge of 25.00.
  async function charged(payer = '233240000000') {
    const address = `${house.url}/callback`
    const body = {
      amount: '25.00',
      currency: 'GHS',
      method: 'mtn',
      payer,
      payee: 'Ama',
      callback_url: address,
      return_url: address,
    }
    const { reference } = await call('/charges', body)
    house.skip(60_000)
    return reference
  }
  const refundOf = (charge: string, amount: string, more: object = {}) => ({
    charge,
    amount,
    currency: 'GHS',
    callback_url: `${house.url}/callback`,
    ...more,
  })

  test('a refund is pending, then successful, and calls back', async () => {
    const charge = await charged()
    const { http, reference } = await call('/refunds', refundOf(charge, '10.00'))
    expect(http).toBe(202)
    house.skip(60_000)
    expect(await call(`/refunds/${reference}`)).toMatchObject({
      http: 200,
      answer: { status: 'SUCCESSFUL', amount: '10.00', currency: 'GHS', externalId: reference, charge },
    })
    expect(await house.callbacksFor(reference, 1)).toEqual(['SUCCESSFUL'])
  })

  test('the same reference is one refund', async () => {
    const charge = await charged()
    const { reference } = await call('/refunds', refundOf(charge, '10.00'))
    const again = await call('/refunds', refundOf(charge, '10.00'), reference)
    expect(again).toMatchObject({ http: 409, answer: { code: 'RESOURCE_ALREADY_EXIST' } })
  })

  test('refunds together never exceed the charge, however many arrive at once', async () => {
    const charge = await charged()
    const all = await Promise.all(
      Array.from({ length: 8 }, () => call('/refunds', refundOf(charge, '10.00'))),
    )
    expect(all.filter(({ http }) => http === 202)).toHaveLength(2)
    for (const { http, answer } of all)
      if (http !== 202) expect(answer).toEqual({ code: 'MORE_THAN_CHARGED' })
    expect(await call('/refunds', refundOf(charge, '5.01'))).toMatchObject({ http: 400 })
    expect(await call('/refunds', refundOf(charge, '5.00'))).toMatchObject({ http: 202 })
  })

  test('a failed refund frees its amount', async () => {
    const charge = await charged()
    expect(await call('/refunds', refundOf(charge, '0.12'))).toMatchObject({ http: 202 })
    expect(await call('/refunds', refundOf(charge, '25.00'))).toMatchObject({ http: 202 })
  })

  test('a charge that took more than requested can be refunded whole', async () => {
    const charge = await charged('233240000009')
    expect(await call('/refunds', refundOf(charge, '26.00'))).toMatchObject({ http: 202 })
  })

  for (const [name, payer] of [
    ['declined', '233240000003'],
    ['undecided', '233241234567'],
  ] as const)
    test(`a charge that is ${name} cannot be refunded`, async () => {
      const charge = await charged(payer)
      const { http, answer } = await call('/refunds', refundOf(charge, '1.00'))
      expect([http, answer]).toEqual([400, { code: 'CHARGE_NOT_FOUND' }])
    })

  for (const [field, change] of [
    ['amount', { amount: '1.001' }],
    ['amount', { amount: '-1.00' }],
    ['currency', { currency: 'USD' }],
    ['currency', { currency: 'XXX' }],
    ['charge', { charge: "x' or true" }],
    ['callback_url', { callback_url: 'nowhere' }],
  ] as const)
    test(`a wrong ${field} is refused: ${JSON.stringify(change)}`, async () => {
      const { http, answer } = await call('/refunds', refundOf(await charged(), '1.00', change))
      expect([http, answer]).toEqual([400, { code: 'INVALID_REQUEST', field }])
    })

  test('errors by amount: refused, HTTP 500 although it is accepted, and polls that fail', async () => {
    const charge = await charged()
    expect(await call('/refunds', refundOf(charge, '0.21'))).toMatchObject({
      http: 400,
      answer: { code: 'NOT_ENOUGH_FUNDS' },
    })
    const failed = await call('/refunds', refundOf(charge, '0.15'))
    expect(failed.http).toBe(500)
    house.skip(60_000)
    expect(await call(`/refunds/${failed.reference}`)).toMatchObject({ answer: { status: 'SUCCESSFUL' } })
    const reference = newReference()
    const silent = call('/refunds', refundOf(charge, '0.16'), reference)
    await expect.poll(() => call(`/refunds/${reference}`).then(({ http }) => http)).toBe(503)
    await silent
  })

  for (const lang of ['en', 'fr'] as const)
    test(`the test phone lists the amounts: ${lang}`, async () => {
      const page = await (await fetch(`${house.url}/sandbox/phone?lang=${lang}`)).text()
      const { by_refund } = languages[lang].sandbox
      for (const [amount, ending] of Object.entries(refundEndingsByAmount))
        expect(page).toContain(`<dt>0.${amount}</dt><dd>${by_refund[ending]}</dd>`)
    })

  test('an unknown refund, and a wrong key', async () => {
    expect(await call('/refunds/m0m0m0m0m0nothing')).toMatchObject({ http: 404 })
    expect(await call('/refunds/x', undefined, undefined, 'Bearer wrong')).toMatchObject({ http: 401 })
    expect(await call('/refunds', refundOf('m0m0m0m0m0nothing', '1.00'))).toMatchObject({
      answer: { code: 'CHARGE_NOT_FOUND' },
    })
  })
})
