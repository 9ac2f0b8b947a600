import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { sql } from '../../../src/store/db.ts'
import { addApproval } from '../../../src/store/refunds/approvals.ts'
import type { TestMerchant } from '../../support/gateway/gateway.ts'
import { after, hours, minutes, no, yes } from '../../support/payments/rows.ts'
import { openShop, type TestShop } from '../../support/payments/shop.ts'
import { tollgate, tollgateJson } from '../tollgate.ts'

let shop: TestShop
let merchant: TestMerchant
let paid: Payment
let twice: Payment
const start = after(-hours(48), new Date())

beforeAll(async () => {
  shop = await openShop()
  merchant = await shop.addMerchant()
  shop.setNow(start)
  paid = await shop.try(await shop.ask(merchant, { total: '25.00' }), yes)
  twice = await shop.ask(merchant, { total: '25.00' })
  await shop.try(twice, no)
  shop.setNow(after(minutes(1), start))
  await shop.try(twice, yes)
  await shop.hear(twice, yes, 1)
})
afterAll(() => shop.stop())

const run = (...args: string[]) => tollgate(shop.env, 'refund', ...args)
const json = (...args: string[]) => tollgateJson(shop.env, 'refund', ...args)
const setState = (refund_reference: string, state: string) =>
  shop.db.rows(sql`update refunds set state = ${state} where refund_reference = ${refund_reference}`)

test('refunds that wait for a second person are listed until they expire', async () => {
  expect((await run('approvals')).stdout).toBe('No refund waits for an approval.\n')
  const { merchant_id, tx_reference, invoice_id } = paid
  const asked = (refund_reference: string, expires_at: Date) =>
    addApproval(shop.db, {
      merchant_id,
      refund_reference,
      mode: 'test',
      tx_reference,
      invoice_id,
      attempt_number: 1,
      source: 'payment',
      amount: 2500n,
      currency: 'GHS',
      reason: 'Returned',
      requested_by: 'merchant',
      requester_id: 'ama',
      state: 'waiting',
      decider_id: null,
      decision_reason: '',
      created_at: start,
      expires_at,
      decided_at: null,
    })
  await asked(`${merchant_id}expired`, start)
  await asked(`${merchant_id}waits`, after(hours(24 * 7), start))
  const { stdout } = await run('approvals', '--merchant', merchant_id)
  expect(stdout).toMatch(/^REFUND +MERCHANT +MODE +AMOUNT/)
  expect(stdout).toMatch(new RegExp(`${merchant_id}waits +.+ test +GHS 25.00 +${tx_reference} +ama`))
  expect((await json('approvals')).data).toMatchObject({
    approvals: [{ refund_reference: `${merchant_id}waits`, amount: '25.00', requester_id: 'ama' }],
  })
  await shop.db.rows(sql`delete from refund_approvals where merchant_id = ${merchant_id}`)
})

test('without refunds there is a sentence', async () => {
  expect((await run('list')).stdout).toBe('There are no such refunds.\n')
  expect((await json('list')).data).toEqual({ refunds: [] })
})

for (const [what, args, exit, message] of [
  ['no name', ['create', 'A-1'], 2, /Required option '--by <name>' not specified/],
  ['no such payment', ['create', 'NOPE', '--by', 'Esi'], 1, /No payment has the reference/],
  ['no such refund', ['show', 'NOPE'], 1, /No refund has the reference/],
  [
    'an unknown source',
    ['create', 'A-1', '--by', 'Esi', '--source', 'x'],
    2,
    /Allowed choices are payment, surplus, fee/,
  ],
] as const)
  test(`refused: ${what}`, async () => {
    const { code, stderr } = await run(...args)
    expect(code).toBe(exit)
    expect(stderr).toMatch(message)
  })

test('a part of a payment: stored for the gateway to send, listed and shown', async () => {
  const args = [paid.tx_reference, '--amount', '10.00', '--reason', 'One item returned', '--by', 'Esi']
  const { code, data } = await json('create', ...args)
  expect(code).toBe(0)
  expect(data).toMatchObject({
    amount: '10.00',
    state: 'requested',
    source: 'payment',
    operator: 'Esi',
    refund_id: null,
  })
  expect(data).not.toHaveProperty('attempt_id')
  expect((await json('list', '--state', 'requested')).data.refunds).toEqual([data])
  expect((await json('show', data.refund_reference)).data).toEqual(data)
  const shown = (await run('show', data.refund_reference)).stdout
  for (const text of ['GHS 10.00', 'One item returned', 'Esi', paid.tx_reference])
    expect(shown).toContain(text)
  const payment = await tollgate(shop.env, 'payment', 'show', paid.tx_reference)
  expect(payment.stdout).toContain('Requested a refund: GHS 10.00. One item returned')
  expect(payment.stdout).toContain('A refund of GHS 10.00 is under way.')
})

test('more than is left is refused with what is left', async () => {
  const { code, stderr } = await run('create', paid.tx_reference, '--amount', '15.01', '--by', 'Esi')
  expect([code, stderr]).toEqual([1, expect.stringContaining('GHS 15.00 of it can be refunded')])
})

test('the task of a duplicate charge: exactly that charge, as surplus', async () => {
  const { data } = await json('create', twice.tx_reference, '--task', 'refund', '--by', 'Esi')
  expect(data).toMatchObject({ amount: '25.00', source: 'surplus', tx_reference: twice.tx_reference })
  const { stderr } = await run('create', twice.tx_reference, '--task', 'amount_mismatch', '--by', 'Esi')
  expect(stderr).toContain('has no open amount_mismatch task')
  const { stdout } = await tollgate(shop.env, 'task', 'list')
  expect(stdout).toContain('tollgate refund create REFERENCE --task refund --by NAME')
})

test('record: only in needs_action or unknown, with a time and a reference', async () => {
  const [refund] = (await json('list')).data.refunds as { refund_reference: string }[]
  const id = refund?.refund_reference ?? ''
  const record = ['record', id, '--at', '2026-01-31', '--reference', 'FT-1', '--by', 'Esi']
  expect((await run(...record)).stderr).toContain(
    'The refund is requested: only a refund in needs_action or unknown',
  )
  await setState(id, 'needs_action')
  expect((await run('record', id, '--by', 'Esi')).stderr).toContain(
    'Give --at and --reference, or --failed and --note',
  )
  expect((await run('record', id, '--failed', '--by', 'Esi')).stderr).toContain('--failed needs --note')
  const future = ['record', id, '--at', '2999-01-31', '--reference', 'FT-1', '--by', 'Esi']
  expect((await run(...future)).stderr).toContain('must not be in the future')
  expect((await run(...record)).stdout).toBe('The refund of GHS 25.00 is recorded as succeeded.\n')
  expect((await json('show', id)).data).toMatchObject({
    state: 'succeeded',
    recorded_by: 'Esi',
    recorded_reference: 'FT-1',
  })
  expect((await tollgateJson(shop.env, 'task', 'list')).data.open).toBe(0) // the charge was refunded
})

test('retry: a new refund after failed only', async () => {
  const [, refund] = (await json('list')).data.refunds as { refund_reference: string }[]
  const id = refund?.refund_reference ?? ''
  const { code, stderr } = await run('retry', id, '--by', 'Kofi')
  expect([code, stderr]).toEqual([1, expect.stringContaining('only a failed refund is requested again')])
  await setState(id, 'failed')
  const { data } = await json('retry', id, '--by', 'Kofi')
  expect(data).toMatchObject({ amount: '10.00', operator: 'Kofi', state: 'requested' })
  expect(data.refund_reference).not.toBe(id)
})
