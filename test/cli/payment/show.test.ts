import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { explainPayment } from '../../../src/actions/payments/explainPayment.ts'
import { timelineText } from '../../../src/cli/payment/timeline.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import type { TestMerchant } from '../../support/gateway/gateway.ts'
import { after, minutes, no, seconds, yes } from '../../support/payments/rows.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'
import { tollgate, tollgateJson } from '../tollgate.ts'

let shop: TestShop
let merchant: TestMerchant
let payment: Payment
const start = after(-minutes(10), new Date())

beforeAll(async () => {
  shop = await openShop()
  shop.setNow(start)
  merchant = await shop.addMerchant()
  payment = await shop.ask(merchant, { number: '0241234567', description: 'Two straw hats' })
  shop.setNow(after(seconds(5), start))
  await shop.try(payment, { state: 'unknown', words: 'no party 233241234567' })
  await shop.hear(payment, no)
  shop.setNow(after(minutes(1), start))
  payment = await shop.try(
    payment,
    {
      ...yes,
      provider_ref: 'P-77',
      instrument: '•••• 4242',
      card_type: 'visa',
      psp_response_code: '00',
      psp_response_msg: 'Approved for 0241234567',
    },
    { payment_method: 'card', input: {} },
  )
})
afterAll(() => shop.stop())

test('no output has the number, the token, the customer’s input, or the secret of callbacks', async () => {
  const [plain, json] = await Promise.all([
    tollgate(shop.env, 'payment', 'show', payment.tx_reference),
    tollgateJson(shop.env, 'payment', 'show', payment.tx_reference),
  ])
  const { attempts } = await explainPayment(shop.db, payment, new Date())
  const everything = plain.stdout + JSON.stringify(json.data)
  const secrets = [...attempts.map(({ attempt_id }) => attempt_id), payment.tx_token]
  for (const hidden of [...secrets, '41234567', 'given', 'payer']) expect(everything).not.toContain(hidden)
})

test('the verdict is first: whether it is paid, and whether the shop has acknowledged', async () => {
  const { stdout } = await tollgate(shop.env, 'payment', 'show', payment.tx_reference)
  const { data } = await tollgateJson(shop.env, 'payment', 'show', payment.tx_reference)
  const { title, reason } = (data as { verdict: { title: string; reason: string } }).verdict
  expect(title).toMatch(/^Paid\. /)
  expect(stdout.startsWith(`${title}\n${reason}\n`)).toBe(true)
})

test('the facts include how it was paid', async () => {
  const { code, stdout } = await tollgate(shop.env, 'payment', 'show', payment.tx_reference)
  expect(code).toBe(0)
  for (const [name, value] of [
    ['status', 'paid'],
    ['method', 'Card'],
    ['instrument', '•••• 4242'],
    ["provider's ref", 'P-77'],
    ['paid', '\\d{4}-.* UTC'],
    ['charged', 'GHS 25\\.00'],
    ['card', 'visa'],
    ['code', '00: Approved for 024 ••• 4567'],
  ])
    expect(stdout).toMatch(new RegExp(`^  ${name} +${value}$`, 'm'))
  expect(stdout).not.toMatch(/^ {2}late /m)
})

test('programs get attempts, events and what is next', async () => {
  const { data } = await tollgateJson(shop.env, 'payment', 'show', payment.tx_reference)
  expect(data).toMatchObject({
    merchant_name: 'Ama Shop',
    payment_method: 'card',
    charged: '25.00',
    late: false,
  })
  expect(data.attempts).toMatchObject([
    { number: 1, state: 'failed', reason: 'insufficient_funds', instrument: '024 ••• 4567', charged: null },
    { number: 2, state: 'paid', provider_account: 'live_bank', provider_ref: 'P-77', charged: '25.00' },
  ])
  expect(data.events[0]).toEqual({
    at: payment.created_at.toISOString(),
    who: 'shop',
    words: 'Ama Shop requested GHS 25.00',
  })
  expect(data.next.at(-1)).toEqual({ at: null, words: 'Nothing else: paid is final' })
})

describe('on a terminal', () => {
  for (const columns of [60, 80, 120])
    test(`of ${columns} columns no line of the timeline is cut`, async () => {
      const text = timelineText(await explainPayment(shop.db, payment, new Date()), columns)
      const story = text.slice(text.indexOf('What happened')).split('\n')
      expect(Math.max(...story.map(line => line.length))).toBeLessThanOrEqual(columns)
    })

  test('each day is printed once, and the texts are in one column', async () => {
    const at = new Date('2026-05-01T23:59:00Z')
    const explained = await explainPayment(shop.db, payment, at)
    const moments = [0, 30, 90].map(count => ({
      at: after(seconds(count), at),
      who: 'shop',
      words: 'one two three four five six seven',
      mark: 'done' as const,
    }))
    const next = [
      { at: null, words: 'never' },
      { at, words: 'soon' },
    ]
    expect(timelineText({ ...explained, attempts: [], moments, next }, 40)).toBe(
      [
        'What happened',
        '  2026-05-01 UTC',
        '  23:59:00   shop   one two three four five',
        '                    six seven',
        '  23:59:30   shop   one two three four five',
        '                    six seven',
        '  2026-05-02 UTC',
        '  00:00:30   shop   one two three four five',
        '                    six seven',
        '',
        'What happens next',
        '             never',
        '  2026-05-01 UTC',
        '  23:59:00   soon',
      ].join('\n'),
    )
  })
})
