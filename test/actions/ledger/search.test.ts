import { afterAll, beforeAll, expect, test } from 'vitest'
import { searchUnbooked } from '../../../src/actions/ledger/search.ts'
import { isIntact, verifyLedger } from '../../../src/actions/ledger/verify.ts'
import { balancesOf } from '../../../src/core/ledger/balance.ts'
import type { Transfer } from '../../../src/core/ledger/transfer.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import type { Reply } from '../../../src/core/provider/reply.ts'
import { sql } from '../../../src/store/db.ts'
import { hours, yes } from '../../support/payments/rows.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'

// Charges without transfers, as a node of an earlier version leaves them: the transfers are removed.
let shop: TestShop
beforeAll(async () => void (shop = await openShop()))
afterAll(() => shop.stop())

const forget = () =>
  shop.db.transaction(async tx => {
    await tx.rows(sql`alter table transfers disable trigger transfers_append_only`)
    await tx.rows(sql`delete from transfers`)
    await tx.rows(sql`alter table transfers enable trigger transfers_append_only`)
  })
const balances = async ({ merchant_id }: Pick<Payment, 'merchant_id'>) => {
  const rows = await shop.db.rows<Transfer>(sql`select * from transfers where merchant_id = ${merchant_id}`)
  return Object.fromEntries([...balancesOf(rows)].filter(([, balance]) => balance !== 0n))
}
const search = async ({ merchant_id }: { merchant_id: string }, now = new Date()) => {
  const found: string[] = []
  for (;;) {
    const result = await searchUnbooked(shop.db, merchant_id, now)
    found.push(...(result.found?.tx_references ?? []))
    if (!result.hasMore) return found
  }
}
const paid: Reply = { ...yes, amount: 2500n, fee: 50n }
let invoices = 0

test('are booked once, as they would have been, without the fee of the operator', async () => {
  const merchant = await shop.addMerchant('Ama Shop', 'fee=1%')
  const ask = () => shop.ask(merchant, { invoice_id: `S-${++invoices}`, total: '25.00' })
  const [plain, mismatched, reversed, disputed, open, unpaid] = await Promise.all(
    Array.from({ length: 6 }, ask),
  )
  if (!plain || !mismatched || !reversed || !disputed || !open || !unpaid) throw new Error('no payments')
  await shop.try(plain, paid)
  await shop.try(mismatched, { ...yes, amount: 2000n })
  await shop.try(reversed, paid)
  await shop.hear(reversed, { ...paid, reversals: [{ id: 'r1', amount: 700n, words: '' }] })
  await shop.try(disputed, paid)
  await shop.hear(disputed, { ...paid, disputes: [{ id: 'd1', state: 'open', amount: 500n, words: '' }] })
  await shop.hear(disputed, { ...paid, disputes: [{ id: 'd1', state: 'lost', amount: 500n, words: '' }] })
  await shop.try(open, paid)
  await shop.hear(open, { ...paid, disputes: [{ id: 'd2', state: 'open', amount: 400n, words: '' }] })
  await shop.try(unpaid, { state: 'failed', reason: 'declined' })
  const before = await balances(merchant)
  await forget()
  const verified = await verifyLedger(shop.db, merchant.merchant_id, new Date())
  expect(verified.wrongCharges).toHaveLength(5)
  expect(isIntact(verified)).toBe(false)

  expect(await search(merchant)).toHaveLength(5)
  const { gateway_fees, ...others } = before
  expect(gateway_fees).toBe(100n)
  expect(await balances(merchant)).toEqual({ ...others, merchant: (before.merchant ?? 0n) + 100n })
  expect(isIntact(await verifyLedger(shop.db, merchant.merchant_id, new Date()))).toBe(true)
  expect(await search(merchant, new Date(Date.now() + hours(25)))).toEqual([])
})

test('are found a day later, if a node of an earlier version paid meanwhile', async () => {
  const merchant = await shop.addMerchant()
  const payment = await shop.ask(merchant, { invoice_id: 'S-old', total: '25.00' })
  expect(await search(merchant)).toEqual([])
  await shop.try(payment, paid)
  await forget()
  expect(await search(merchant)).toEqual([])
  expect(await search(merchant, new Date(Date.now() + hours(25)))).toEqual([payment.tx_reference])
})

test('what was booked before and after is completed: a dispute that was opened before', async () => {
  const merchant = await shop.addMerchant()
  const payment = await shop.ask(merchant, { invoice_id: 'S-dispute', total: '25.00' })
  const dispute = { id: 'd1', amount: 500n, words: '' }
  await shop.try(payment, paid)
  await shop.hear(payment, { ...paid, disputes: [{ ...dispute, state: 'open' }] })
  await forget()
  await shop.hear(payment, { ...paid, disputes: [{ ...dispute, state: 'won' }] })
  expect(await search(merchant)).toEqual([payment.tx_reference])
  expect(await balances(merchant)).toEqual({ 'provider:live_bank': 2450n, merchant: 2450n })
})

test('a charge that was given back whole is missing, too, although nothing is left of it', async () => {
  const merchant = await shop.addMerchant()
  const payment = await shop.ask(merchant, { invoice_id: 'S-lost', total: '25.00' })
  const charge: Reply = { ...yes, amount: 2500n }
  await shop.try(payment, charge)
  await shop.hear(payment, { ...charge, reversals: [{ id: 'r1', amount: 2500n, words: '' }] })
  expect((await verifyLedger(shop.db, merchant.merchant_id, new Date())).wrongCharges).toEqual([])
  await forget()
  const { wrongCharges } = await verifyLedger(shop.db, merchant.merchant_id, new Date())
  expect(wrongCharges).toMatchObject([{ tx_reference: payment.tx_reference, recorded: 0n, booked: 0n }])
})
