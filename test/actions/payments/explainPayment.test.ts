import { afterAll, beforeAll, expect, test } from 'vitest'
import { cancel } from '../../../src/actions/payments/cancel.ts'
import { explainPayment, findByReferenceOrInvoice } from '../../../src/actions/payments/explainPayment.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import type { TestMerchant } from '../../support/gateway/gateway.ts'
import { after, no, pending, seconds, unclear, yes } from '../../support/payments/rows.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'

let shop: TestShop
let merchant: TestMerchant
let other: TestMerchant
const start = new Date('2026-05-01T10:00:00Z')
beforeAll(async () => {
  shop = await openShop()
  shop.setNow(start)
  merchant = await shop.addMerchant()
  other = await shop.addMerchant('Kofi')
})
afterAll(() => shop.stop())

for (const [what, word] of [
  ['nothing', ''],
  ['blanks', '   '],
  ['a null character, which PostgreSQL does not take', 'A\0'],
  ['half a character', '\ud800'],
  ['a long story', 'x'.repeat(201)],
  ['what nobody has', 'NOPE'],
  ['a pattern', '%'],
] as const)
  test(`${what} finds nothing`, async () => expect(await findByReferenceOrInvoice(shop.db, word)).toEqual([]))

// Found in whatever way, it is the same one.
const references = (found: Payment[]) => found.map(({ tx_reference }) => tx_reference).sort()

test('a reference is found in any case, an invoice id as it is written', async () => {
  const payment = await shop.ask(merchant, { invoice_id: 'Inv-1' })
  for (const word of [` ${payment.tx_reference.toLowerCase()} `, 'Inv-1'])
    expect(references(await findByReferenceOrInvoice(shop.db, word))).toEqual([payment.tx_reference])
  expect(await findByReferenceOrInvoice(shop.db, 'inv-1')).toEqual([])
})

test('what was read out, typed or copied is found as people spell it', async () => {
  const payment = await shop.ask(merchant, { invoice_id: 'Inv-2' })
  const { tx_reference } = payment
  for (const word of [
    tx_reference.replaceAll('-', ''),
    tx_reference.replaceAll('-', ' '),
    tx_reference.replaceAll('-', '–'),
    `\u202a${tx_reference}\u202c`,
    tx_reference.replaceAll('0', 'o').replaceAll('1', 'l'),
    '\u2068Inv-2\u2069\ufeff',
  ])
    expect(references(await findByReferenceOrInvoice(shop.db, word)), word).toEqual([tx_reference])
  const odd = await shop.ask(merchant, { invoice_id: 'TGOOOOOOOOOOOOOOOOOO' }) // spelled like a reference
  expect(references(await findByReferenceOrInvoice(shop.db, odd.invoice_id))).toEqual([odd.tx_reference])
})

test('whoever takes a reference of another for an invoice id hides nothing', async () => {
  const payment = await shop.ask(merchant)
  const copy = await shop.ask(other, { invoice_id: payment.tx_reference })
  const own = await shop.ask(merchant, { invoice_id: payment.tx_reference })
  expect(references(await findByReferenceOrInvoice(shop.db, payment.tx_reference))).toEqual(
    references([payment, copy, own]),
  )
  expect(
    references(await findByReferenceOrInvoice(shop.db, payment.tx_reference, merchant.merchant_id)),
  ).toEqual([payment.tx_reference])
  expect(await findByReferenceOrInvoice(shop.db, copy.tx_reference, merchant.merchant_id)).toEqual([])
})

test('a payment that went all ways is told from the first word to the last', async () => {
  shop.setNow(start)
  const payment = await shop.ask(merchant)
  const at = (count: number) => shop.setNow(after(seconds(count), start))
  at(1)
  await shop.try(payment, unclear)
  at(2)
  await shop.hear(payment, no)
  at(10)
  await shop.try(payment, pending, { payment_method: 'card', input: {} })
  at(11)
  await cancel(shop.runtime, payment, after(seconds(11), start))
  at(12)
  await shop.hear(payment, no)
  at(13)
  const paid = await shop.hear(payment, { ...yes, provider_ref: 'FT-1' }, 1) // the no turned out to be a yes
  at(14)
  await shop.hear(payment, { ...yes, provider_ref: 'FT-2' }, 2)

  const {
    moments,
    next,
    attempts,
    merchant: whose,
  } = await explainPayment(shop.db, paid, after(seconds(15), start))
  expect(whose.name).toBe('Ama Shop')
  expect(attempts.map(({ state }) => state)).toEqual(['paid', 'paid'])
  expect(moments.map(({ who, words }) => `${who}: ${words}`)).toEqual([
    'shop: Ama Shop requested GHS 25.00',
    'customer: Chose MTN MoMo, 024 ••• 4567 (attempt 1)',
    'provider (live_bank): No clear answer, so it is asked again: HTTP 503',
    'provider (live_bank): No to attempt 1: Not enough money in the account.',
    'provider (live_bank): The payment is failed: Not enough money in the account.',
    'customer: Chose Card (attempt 2)',
    'customer: The payment is open again',
    "provider (live_bank): Has the request; the customer's answer is awaited",
    'customer: Cancelled while attempt 2 was on its way; the payment becomes cancelled only if the attempt ends without success',
    'provider (live_bank): No to attempt 2: Not enough money in the account.',
    'provider (live_bank): The payment is cancelled: The customer cancelled.',
    'provider (live_bank): Yes to attempt 1: GHS 25.00 taken, reference FT-1',
    'provider (live_bank): The payment is paid, late: it was cancelled, but money outranks an earlier failure or cancellation',
    'provider (live_bank): Yes to attempt 2: GHS 25.00 taken, reference FT-2',
    'provider (live_bank): The payment was already paid: GHS 25.00 came in addition, to be refunded',
  ])
  expect(moments.map(moment => moment.at)).toEqual(
    moments.map(moment => moment.at).toSorted((a, b) => +a - +b),
  )
  expect(next).toEqual([
    { at: null, words: 'An operator has to look: a refund of GHS 25.00 is open' },
    { at: null, words: 'Nothing else: paid is final' },
  ])
})
