import { afterAll, beforeAll, expect, test } from 'vitest'
import { newestOfAll, searchByText } from '../../../src/actions/payments/searchPayments.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import type { Reply } from '../../../src/core/provider/reply.ts'
import { sql } from '../../../src/store/db.ts'
import { attemptsOf } from '../../../src/store/payments/attempts.ts'
import type { TestMerchant } from '../../support/gateway/gateway.ts'
import { after, hours, minutes, no, noon, pending, yes } from '../../support/payments/rows.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'

const days = (count: number) => hours(24 * count)

let shop: TestShop
let ama: TestMerchant
let kofi: TestMerchant
const payments: Record<string, Payment> = {}
let attempt_id: string

// A payment whose customer has this number and address, at a time before noon.
async function add(name: string, merchant: TestMerchant, agoMs: number, fields = {}) {
  shop.setNow(after(-agoMs))
  payments[name] = await shop.ask(merchant, { invoice_id: name, ...fields })
  return payments[name]
}

beforeAll(async () => {
  shop = await openShop()
  ama = await shop.addMerchant('Ama Shop')
  kofi = await shop.addMerchant('Kofi Shop')
  const customer = { number: '0244123456', email: 'Esi@Mail.example' }
  await add('OLD', ama, days(200), customer)
  await add('OPEN', kofi, hours(2), customer)
  await shop.try(
    await add('PAID', ama, hours(1)),
    { ...yes, provider_ref: 'MP-77' },
    { input: { phone: '0551112222' } },
  )
  await shop.try(await add('FAILED', kofi, minutes(30)), { ...no, provider_ref: 'MP-78' } as Reply, {
    input: { phone: '0551112222' },
  })
  await shop.try(await add('WAITS', kofi, minutes(20)), pending, { input: { phone: '0593334444' } })
  const waits = payments.WAITS as Payment
  attempt_id = (await attemptsOf(shop.db, waits.merchant_id, waits.tx_reference))[0]?.attempt_id ?? ''
  await add('0277777777', ama, minutes(10)) // an invoice id like a phone number
  await add('NUMBER', kofi, minutes(5), { number: '+233277777777' })
  shop.setNow(noon)
})
afterAll(() => shop.stop())

const find = async (text: string, merchant_id?: string) =>
  (await searchByText(shop.db, text, merchant_id, noon)).payments.map(({ invoice_id }) => invoice_id)

for (const [what, text, found] of [
  ['an invoice id', () => 'OLD', ['OLD']],
  ['a reference', () => payments.PAID?.tx_reference ?? '', ['PAID']],
  ['a phone number, newest first', () => '024 412 3456', ['OPEN', 'OLD']],
  ['it with its country code', () => '+233244123456', ['OPEN', 'OLD']],
  ['it without a plus', () => '233244123456', ['OPEN', 'OLD']],
  ['an email address in other letters', () => 'esi@mail.EXAMPLE', ['OPEN', 'OLD']],
  ['a wallet, paid or not', () => '0551112222', ['FAILED', 'PAID']],
  ['a wallet that is being asked', () => '059 333 4444', ['WAITS']],
  ["a provider's reference of a paid attempt", () => 'MP-77', ['PAID']],
  ["a provider's reference of a failed attempt", () => 'MP-78', ['FAILED']],
  ['the id of an order at the provider', () => attempt_id, ['WAITS']],
  ['a checkout address', () => `https://pay.example/checkout/${payments.OPEN?.tx_token}?lang=fr`, ['OPEN']],
  [
    'the address of a receipt',
    () => `https://pay.example/checkout/${payments.OPEN?.tx_token}/receipt`,
    ['OPEN'],
  ],
  ['a number that is also an invoice id', () => '0277777777', ['NUMBER', '0277777777']],
  ['a number of no one', () => '0200000000', []],
  ['an address of no one', () => 'no@one.example', []],
  ['a token of no one', () => '0'.repeat(42), []],
  ['nothing', () => '', []],
  ['NUL', () => 'a\0', []],
] as [string, () => string, string[]][])
  test(`${what} finds ${found.join(', ') || 'nothing'}`, async () =>
    expect(await find(text())).toEqual(found))

test('of one merchant only its own are found', async () => {
  expect(await find('0244123456', ama.merchant_id)).toEqual(['OLD'])
  expect(await find('0551112222', kofi.merchant_id)).toEqual(['FAILED'])
  expect(await find('MP-77', kofi.merchant_id)).toEqual([])
  expect(await find('MP-77', 'nobody')).toEqual([])
  expect(await find('MP-77', 'a\0')).toEqual([])
})

test('of a number that very many have, the newest are found', async () => {
  const { merchant_id } = ama
  await shop.db.rows(sql`
    insert into payments (merchant_id, tx_reference, mode, invoice_id, tx_token, status, total, currency, number, email,
      request_digest, created_at, updated_at, expires_at)
    select ${merchant_id}, left(p.tx_reference, 9) || '-MANY00-' || lpad(n::text, 6, '0'),
      'live', 'MANY-' || n, 'many' || n, 'paid', 100, 'GHS', '+233200000001', 'shop@all.example', '', p.created_at
      + n * interval '1 millisecond', p.created_at, p.created_at
    from payments p, generate_series(1, 500) n where p.tx_reference = ${payments.PAID?.tx_reference}`)
  for (const text of ['0200000001', 'shop@all.example']) {
    const { payments: found, more } = await searchByText(shop.db, text, undefined, noon)
    expect(found.map(({ invoice_id }) => invoice_id)).toEqual(
      Array.from({ length: 20 }, (_, at) => `MANY-${500 - at}`),
    )
    expect(more).toBe(true)
  }
  await shop.db.rows(sql`delete from payments where tx_token like 'many%'`)
})

test('a payment without personal data is not found by it', async () => {
  await shop.db.rows(sql`
    update payments set number = null, email = null, redacted_at = ${noon} where invoice_id = 'OLD'`)
  expect(await find('0244123456')).toEqual(['OPEN'])
})

test('the latest payments of all merchants', async () => {
  const latest = await newestOfAll(shop.db)
  expect(latest.map(({ invoice_id }) => invoice_id)).toEqual([
    'NUMBER',
    '0277777777',
    'WAITS',
    'FAILED',
    'PAID',
    'OPEN',
    'OLD',
  ])
})
