import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Payment } from '../../src/core/payment/payment.ts'
import { sql } from '../../src/store/db.ts'
import { yes } from '../support/payments/rows.ts'
import { openShop, type TestShop } from '../support/payments/shop.ts'
import { tollgate, tollgateJson } from './tollgate.ts'

let shop: TestShop
let payment: Payment
beforeAll(async () => {
  shop = await openShop()
  const merchant = await shop.addMerchant('Ama Shop')
  const asked = await shop.ask(merchant, { number: '0241234567', email: 'ama@mail.example', total: '25.00' })
  payment = await shop.try(asked, yes)
})
afterAll(() => shop.stop())

test('person export prints everything as JSON', async () => {
  const ran = await tollgate(shop.env, 'person', 'export', 'ama@mail.example')
  const { payments } = JSON.parse(ran.stdout) as { payments: { reference: string; number: string }[] }
  expect(payments).toMatchObject([{ reference: payment.tx_reference, number: '+233241234567' }])
})

test('person erase asks for --yes, names what is kept, and erases it later', async () => {
  const asked = await tollgate(shop.env, 'person', 'erase', '0241234567')
  expect([asked.code, asked.stderr]).toEqual([1, expect.stringContaining('repeat the command with --yes')])
  const wrong = await tollgate(shop.env, 'person', 'erase', 'Ama', '--yes')
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('Give a phone number')])
  const kept = await tollgate(shop.env, 'person', 'erase', '0241234567', '--yes')
  expect(kept.stdout).toContain(payment.tx_reference)
  await shop.db.rows(sql`update messages set next_try_at = null, state = 'sent'`)
  await shop.db.rows(sql`update deliveries set next_try_at = null`)
  const erased = await tollgateJson(shop.env, 'person', 'erase', '0241234567', '--yes')
  expect(erased).toMatchObject({ data: { erased: 1, kept: [] } })
  expect(await shop.fresh(payment)).toMatchObject({ number: null, email: null, status: 'paid' })
})
