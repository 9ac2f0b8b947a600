import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { changeOf, changeOne } from '../../src/actions/payments/writeChanges.ts'
import { balancesOf } from '../../src/core/ledger/balance.ts'
import type { Transfer } from '../../src/core/ledger/transfer.ts'
import type { Payment } from '../../src/core/payment/payment.ts'
import type { Refund, RefundState } from '../../src/core/refund/refund.ts'
import { sql } from '../../src/store/db.ts'
import { aRefund } from '../support/payments/refundRows.ts'
import { yes } from '../support/payments/rows.ts'
import { openShop, type TestShop } from '../support/payments/shop.ts'

// Transfers are written in the commit of the change that causes them.
let shop: TestShop
let payments = 0
beforeAll(async () => void (shop = await openShop()))
afterAll(() => shop.stop())

const ask = async (...settings: string[]) => {
  const merchant = await shop.addMerchant('Ama Shop', ...settings)
  return shop.ask(merchant, { invoice_id: `L-${++payments}`, total: '25.00' })
}
const paid = { ...yes, amount: 2500n }
const transfersIn = ({ merchant_id }: Pick<Payment, 'merchant_id'>) =>
  shop.db.rows<Transfer>(sql`select * from transfers where merchant_id = ${merchant_id} order by created_at`)
const balancesIn = async (payment: Payment) =>
  Object.fromEntries([...balancesOf(await transfersIn(payment))].filter(([, balance]) => balance !== 0n))
const bank = 'provider:live_bank'

test('a paid charge with fees, and the reply again', async () => {
  const payment = await ask('fee=1% + 0.10')
  await shop.try(payment, { ...paid, fee: 50n })
  await shop.hear(payment, { ...paid, fee: 50n })
  expect(await balancesIn(payment)).toEqual({ [bank]: 2450n, merchant: 2415n, gateway_fees: 35n })
  expect(await transfersIn(payment)).toMatchObject([
    { kind: 'charge', amount: 2500n, mode: 'live', currency: 'GHS', tx_reference: payment.tx_reference },
    { kind: 'provider_fee' },
    { kind: 'merchant_fee' },
    { kind: 'gateway_fee' },
  ])
})

test('another amount, then the right one, then a reversal', async () => {
  const payment = await ask()
  await shop.try(payment, { ...paid, amount: 2000n })
  expect(await balancesIn(payment)).toEqual({ [bank]: 2000n, suspense: 2000n })
  await shop.hear(payment, paid)
  expect(await balancesIn(payment)).toEqual({ [bank]: 2500n, merchant: 2500n })
  await shop.hear(payment, { ...paid, reversals: [{ id: 'r1', amount: 500n, words: '' }] })
  await shop.hear(payment, { ...paid, reversals: [{ id: 'r1', amount: 500n, words: '' }] })
  expect(await balancesIn(payment)).toEqual({ [bank]: 2000n, merchant: 2000n })
})

test('a charge in another currency', async () => {
  const payment = await ask()
  await shop.try(payment, { ...paid, currency: 'USD' })
  expect(await transfersIn(payment)).toMatchObject([
    { kind: 'unmatched_charge', currency: 'USD', amount: 2500n },
  ])
  await shop.hear(payment, { ...paid, currency: 'USD', reversals: [{ id: 'r1', amount: 500n, words: '' }] })
  expect((await transfersIn(payment)).map(({ currency }) => currency)).toEqual(['USD', 'USD'])
})

async function refund(payment: Payment, before: Refund | undefined, state: RefundState, amount = 1000n) {
  const { merchant_id, tx_reference, paid_attempt_id, invoice_id, mode } = payment
  const keys = { merchant_id, tx_reference, invoice_id, mode, attempt_id: paid_attempt_id ?? '' }
  const refund_reference = `${merchant_id}r${++payments}`
  const fresh = aRefund({ ...keys, refund_reference, amount, provider_account: 'live_bank' })
  const after = { ...(before ?? fresh), state, updated_at: new Date() }
  await changeOne(shop.db, {}, payment, async (_, locked) => ({
    answer: undefined,
    change: { ...changeOf(locked, locked, []), refund: { before, after } },
  }))
  return after
}

test('a refund, and the fee that is returned with it', async () => {
  const payment = await ask('fee=10%', 'fee_on_refund=return')
  const settled = await shop.try(payment, paid)
  expect(await balancesIn(payment)).toEqual({ [bank]: 2500n, merchant: 2250n, gateway_fees: 250n })
  const requested = await refund(settled, undefined, 'requested')
  expect(await balancesIn(payment)).toMatchObject({ merchant: 1250n, refunds_pending: 1000n })
  await refund(settled, requested, 'succeeded')
  expect(await balancesIn(payment)).toEqual({ [bank]: 1500n, merchant: 1350n, gateway_fees: 150n })
})

test("a charge through the merchant's own account is not payable", async () => {
  const payment = await ask('fee=1%')
  await shop.db.rows(sql`
    insert into provider_accounts (account, provider, mode, merchant_id, settings, sealed_settings, wrapped_key,
      master_key_id, created_at, updated_at, version)
    values ('live_bank', 'test', 'live', ${payment.merchant_id}, '{}', '', '', '', now(), now(), 1)`)
  const account = shop.runtime.providerAccounts.find('live_bank')
  const accounts = {
    ...shop.runtime.providerAccounts,
    findFor: () => account && { ...account, ownedBy: payment.merchant_id },
  }
  const deps = { ...shop.runtime, providerAccounts: accounts }
  await shop.try(payment, { state: 'pending' })
  const settled = await shop.hear(payment, paid, undefined, deps)
  expect(await balancesIn(payment)).toEqual({ merchant: -25n, gateway_fees: 25n })
  await refund(settled, await refund(settled, undefined, 'requested'), 'succeeded')
  expect(await balancesIn(payment)).toEqual({ merchant: -25n, gateway_fees: 25n })
})

describe('the ledger refuses', () => {
  for (const [what, statement] of [
    ['a changed amount', 'update transfers set amount = amount + 1'],
    ['a deleted row', 'delete from transfers'],
    ['an emptied table', 'truncate transfers'],
    ['a changed seal', 'update ledger_seals set number = 2'],
    ['a deleted seal', 'delete from ledger_seals'],
    ['an emptied table of seals', 'truncate ledger_seals'],
  ] as const)
    test(what, () => expect(shop.db.rows(sql([statement]))).rejects.toThrow('append-only'))

  test('a cause that is booked already', async () => {
    const payment = await ask()
    const settled = await shop.try(payment, paid)
    const requested = await refund(settled, undefined, 'requested')
    await refund(settled, requested, 'succeeded')
    await expect(refund(settled, requested, 'succeeded')).rejects.toThrow('duplicate key')
  })
})
