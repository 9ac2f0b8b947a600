import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sealTransfers } from '../../../src/actions/ledger/seal.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { query } from '../../support/database/database.ts'
import type { TestMerchant } from '../../support/gateway/gateway.ts'
import { hours, yes } from '../../support/payments/rows.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'
import { blocksOf } from '../../docs/blocks.ts'
import { tollgate, tollgateJson } from '../tollgate.ts'

let shop: TestShop
let merchant: TestMerchant
let payment: Payment
const paid = { ...yes, amount: 2500n }
const today = new Date().toISOString().slice(0, 10)
const tomorrow = new Date(Date.now() + hours(24)).toISOString().slice(0, 10)
const ledger = (...args: string[]) => ['ledger', ...args]
const period = ['--from', today, '--to', tomorrow]

beforeAll(async () => {
  shop = await openShop()
  merchant = await shop.addMerchant('Ama Shop', 'fee=1%')
  await shop.addMerchant('Kofi')
  payment = await shop.ask(merchant, { total: '25.00' })
  await shop.try(payment, paid)
  await shop.hear(payment, { ...paid, reversals: [{ id: 'r1', amount: 500n, words: '' }] })
  const other = await shop.ask(merchant, { total: '25.00', invoice_id: 'B' })
  await shop.try(other, { ...paid, amount: 3000n })
  await sealTransfers(shop.db, merchant.merchant_id, new Date(Date.now() + hours(2)))
})
afterAll(() => shop.stop())

describe('balance', () => {
  test('as text', async () => {
    const { stdout } = await tollgate(shop.env, ...ledger('balance'))
    const [title, , ...lines] = stdout.trim().split('\n')
    expect(title).toMatch(/^Ama Shop, live, at /)
    expect(lines.map(line => line.split(/\s+/).join(' '))).toEqual([
      'ACCOUNT BALANCE',
      'gateway_fees GHS 0.25',
      'merchant GHS 19.75',
      'provider:live_bank GHS 50.00',
      'suspense GHS 30.00',
    ])
    expect(stdout).not.toContain('Kofi')
  })
  test('as JSON, of one merchant, at a time', async () => {
    const args = ['--merchant', merchant.merchant_id, '--at', '2026-01-01T00:00:00Z']
    const { data } = await tollgateJson(shop.env, ...ledger('balance', ...args))
    expect(data.merchants).toEqual([{ merchant_id: merchant.merchant_id, balances: [] }])
  })
  test('as CSV', async () => {
    const { stdout } = await tollgate(shop.env, ...ledger('balance', '--csv'))
    expect(stdout.split('\n').slice(0, 2)).toEqual([
      'merchant_id,currency,account,balance',
      `${merchant.merchant_id},GHS,gateway_fees,0.25`,
    ])
  })
})

const statement = (...args: string[]) =>
  ledger('statement', '--merchant', merchant.merchant_id, ...period, ...args)

describe('statement', () => {
  test('as JSON, with the balance after each line', async () => {
    const { data } = await tollgateJson(shop.env, ...statement())
    const lines = data.lines as Record<string, string>[]
    expect(lines.map(line => [line.kind, line.other_account, line.amount, line.balance])).toEqual([
      ['charge', 'provider:live_bank', '25.00', '25.00'],
      ['gateway_fee', 'gateway_fees', '-0.25', '24.75'],
      ['reversal', 'provider:live_bank', '-5.00', '19.75'],
    ])
    expect(data).toMatchObject({ account: 'merchant', opening: {}, closing: { GHS: '19.75' } })
  })
  test('as text', async () => {
    const { stdout } = await tollgate(shop.env, ...statement('--account', 'suspense'))
    expect(stdout).toContain('unmatched_charge')
    expect(stdout).toMatch(/closing balance +GHS 30.00/)
  })
  test('as CSV', async () => {
    const { stdout } = await tollgate(shop.env, ...statement('--account', 'provider:live_bank', '--csv'))
    const [head, ...lines] = stdout.trim().split('\n')
    expect(head).toMatch(/^created_at,happened_at,kind,other_account,tx_reference/)
    expect(lines).toHaveLength(3)
    expect(lines[1]).toContain(`reversal,merchant,${payment.tx_reference},,,GHS,-5.00,20.00`)
  })
  test('of another currency or day is empty', async () => {
    const { data } = await tollgateJson(shop.env, ...statement('--currency', 'USD'))
    expect([data.lines, data.opening, data.closing]).toEqual([[], {}, {}])
  })
  test('CSV and JSON at once are refused', async () => {
    const { code, stderr } = await tollgate(shop.env, ...statement('--csv', '--json'))
    expect([code, stderr]).toEqual([1, expect.stringContaining('not both')])
  })
})

describe('docs/ledger.md', () => {
  for (const { code } of blocksOf('docs/ledger.md'))
    for (const line of code.trim().split('\n'))
      test(line, async () => {
        const heads = await tollgateJson(shop.env, ...ledger('verify', '--head'))
        const [{ number, digest }] = heads.data.heads as [{ number: number; digest: string }]
        const args = line
          .replace('npx tollgate ', '')
          .replace('7c2k9m0x4f', merchant.merchant_id)
          .replace('NUMBER:DIGEST', `${number}:${digest}`)
        expect(await tollgate(shop.env, ...args.split(' '))).toMatchObject({ code: 0, stderr: '' })
      })
})

describe('verify', () => {
  test('shows the head, and accepts it later', async () => {
    const { stdout } = await tollgate(shop.env, ...ledger('verify', '--head'))
    const [, head = ''] = stdout.split(' ')
    expect(stdout).toMatch(new RegExp(`^${merchant.merchant_id} 1:[0-9a-f]{64} until `))
    const args = ['--merchant', merchant.merchant_id, '--expect', head]
    const verified = await tollgate(shop.env, ...ledger('verify', ...args))
    expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining('The ledger is intact.')])
  })
  test('refuses another head', async () => {
    const args = ['--merchant', merchant.merchant_id, '--expect', `1:${'0'.repeat(64)}`]
    const { code, stdout } = await tollgate(shop.env, ...ledger('verify', ...args))
    expect([code, stdout]).toEqual([1, expect.stringContaining('not the one that was exported')])
  })
  test('fails on a changed row and names it, as text, JSON and CSV', async () => {
    await query(
      shop.url,
      `alter table transfers disable trigger transfers_append_only;
       update transfers set amount = amount - 1 where kind = 'reversal';
       alter table transfers enable trigger transfers_append_only`,
    )
    const id = `${payment.tx_reference}/1/reversal/r1`
    const { code, stdout } = await tollgate(shop.env, ...ledger('verify'))
    expect([code, stdout]).toEqual([1, expect.stringContaining(`seal 1, ${id}: this transfer was changed`)])
    expect(stdout).toContain('2000 is recorded at the provider and 2001 is booked')
    const json = await tollgateJson(shop.env, ...ledger('verify'))
    expect(json.data).toMatchObject({
      intact: false,
      merchants: expect.arrayContaining([
        expect.objectContaining({ seal_fault: expect.objectContaining({ seal: 1, transfer_id: id }) }),
      ]),
    })
    const csv = await tollgate(shop.env, ...ledger('verify', '--csv'))
    expect(csv.stdout).toContain(`${merchant.merchant_id},seal 1,${id},this transfer was changed`)
  })
})
