import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from '../../src/store/db.ts'
import type { Payment } from '../../src/core/payment/payment.ts'
import type { TestMerchant } from '../support/gateway/gateway.ts'
import { wrong, yes } from '../support/payments/rows.ts'
import { openShop, type TestShop } from '../support/payments/shop.ts'
import { tollgate } from './tollgate.ts'

// Every bidi control, in every text that a customer, a merchant or a provider can send.
const marks = '\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u206a\u206f'
const turned = (text: string) => `${text}${marks}diap${marks}`
const anyMark = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]/

let shop: TestShop
let merchant: TestMerchant
let payment: Payment
let notificationId: string

beforeAll(async () => {
  shop = await openShop()
  merchant = await shop.addMerchant(turned('Ama Shop'))
  payment = await shop.ask(merchant, {
    invoice_id: 'AMA-1',
    description: turned('Two straw hats'),
    name: turned('Ama'),
    ipn_url: `https://shop.example/ipn?for=${marks}`,
    success_url: `https://shop.example/thanks?for=${marks}`,
    extra_table: turned('7'),
  })
  await shop.try(payment, wrong)
  const response = turned('Approved')
  payment = await shop.hear(payment, {
    ...yes,
    provider_ref: turned('P-77'),
    card_type: turned('visa'),
    psp_response_code: turned('00'),
    psp_response_msg: response,
    provider_code: turned('OK'),
  })
  // Rows that an older version may have stored.
  await shop.db.rows(
    sql`update attempts set psp_response_msg = ${response}, provider_ref = ${response}, instrument = ${response}`,
  )
  await shop.db.rows(sql`update payments set psp_response_msg = ${response}, payment_reference = ${response},
    payment_instrument = ${response}, card_type = ${response}, status_reason = ${response}, outlet = null`)
  await shop.db.rows(sql`update tasks set note = ${response}`)
  await shop.db.rows(sql`update events set reason = ${response}`)
  await shop.db.rows(sql`
    insert into tries (merchant_id, tx_reference, sequence, try, started_at, ms, address, status, result, words, answer)
    select merchant_id, tx_reference, sequence, 1, now(), 9, '203.0.113.9', 500, 'server_error', ${response}, ${Buffer.from(response)}
    from deliveries`)
  await shop.db.rows(sql`
    insert into messages (merchant_id, message_id, mode, medium, topic, recipient, lang, tx_reference, state, words, created_at)
    values (${merchant.merchant_id}, 'm1', 'live', 'email', 'paid', ${`ama${marks}@example.com`}, 'en',
      ${payment.tx_reference}, 'dropped', ${response}, now())`)
  const { stdout } = await tollgate(shop.env, 'notification', 'list', '--json')
  const { notifications } = JSON.parse(stdout) as { notifications: { id: string }[] }
  notificationId = notifications[0]?.id ?? ''
})
afterAll(() => shop.stop())

const commands = (): string[][] => [
  ['payment', 'show', payment.tx_reference],
  ['payment', 'show', payment.invoice_id],
  ['payment', 'show', `NOPE${marks}`],
  ['payment', 'list'],
  ['payment', 'list', '--merchant', `nobody${marks}`],
  ['notification', 'list'],
  ['notification', 'show', `evt_${marks}`],
  ['notification', 'show', notificationId],
  ['notification', 'redeliver', notificationId],
  ['message', 'resend', payment.tx_reference],
  ['message', 'resend', `NOPE${marks}`],
  ['task', 'list'],
  ['task', 'list', '--json'],
  ['merchant', 'list'],
  ['merchant', 'show', merchant.merchant_id],
  ['merchant', 'set', merchant.merchant_id, `support_email=${marks}`],
  ['outlet', 'list', '--merchant', merchant.merchant_id],
  ['outlet', 'report', '--from', '2026-01-01', '--to', '2026-02-01'],
  [
    'outlet',
    'report',
    '--from',
    '2026-01-01',
    '--to',
    '2026-02-01',
    '--csv',
    '--merchant',
    merchant.merchant_id,
  ],
  ['provider', 'list'],
  ['provider', 'status'],
  ['doctor'],
  [`no-such-command${marks}`],
]

test('no command prints a bidi control, as text or as JSON, on either stream', async () => {
  let shown = ''
  for (const args of commands())
    for (const more of [[], ['--json']]) {
      const { stdout, stderr } = await tollgate(shop.env, ...args, ...more)
      expect([args.join(' ').replaceAll(marks, '*'), anyMark.test(stdout + stderr)]).toEqual([
        args.join(' ').replaceAll(marks, '*'),
        false,
      ])
      shown += stdout
    }
  for (const text of ['Two straw hats', 'extra_table', '7diap', 'Ama Shopdiap', 'Approved'])
    expect(shown).toContain(text)
})

test('JSON keeps the text: read again it is the same', async () => {
  const { stdout } = await tollgate(shop.env, 'payment', 'show', payment.tx_reference, '--json')
  const { extra, description } = JSON.parse(stdout) as { extra: Record<string, string>; description: string }
  expect(extra.table).toBe(turned('7'))
  expect(description).toBe(turned('Two straw hats'))
  expect(stdout).toContain('\\u202e')
})
