import assert from 'node:assert/strict'
import { describe, expect, test } from 'vitest'
import type { RefundOrder } from '../../../src/core/provider/refundOrder.ts'
import { guardAccount } from '../../../src/runtime/providers/guard.ts'
import { refundOf } from '../refundOrder.ts'
import type { SimulatorReply } from '../../simulators/simulator.ts'
import { orderFor } from './context.ts'
import { bad, good, openScripted, type Script } from './scripted.ts'

const id = 4_099_260_516
const refundFor = (changes: Partial<RefundOrder> = {}) =>
  refundOf(orderFor('card', { provider_ref: String(id) }), changes)

const record = (order: RefundOrder, more: object = {}) => ({
  id: 77,
  transaction: id,
  amount: Number(order.amount),
  currency: 'GHS',
  status: 'processed',
  merchant_note: order.refund_reference,
  createdAt: new Date().toISOString(),
  refunded_at: '2026-11-17T12:00:00.000Z',
  ...more,
})

async function open(script: Script) {
  const { account, provider } = await openScripted(script)
  const { refunds } = guardAccount(account)
  assert.ok(refunds)
  const posts = () => provider.asked.filter(({ method }) => method === 'POST')
  return { refunds, provider, posts }
}

const succeeded = (order: RefundOrder) => ({
  state: 'succeeded',
  refund: order.refund_reference,
  amount: order.amount,
  currency: 'GHS',
  provider_ref: '77',
  provider_code: 'processed',
  provider_time: new Date('2026-11-17T12:00:00Z'),
})

test('terms: repeating is not safe, and "not found" is never final', async () => {
  const { refunds } = await open({})
  expect(refunds).toMatchObject({ isIdempotent: false, hasPartial: true })
  expect(refunds.visibleWithinMs).toBeUndefined()
  expect(refunds.newIdempotencyKey('r')).toBeNull()
})

test('the request: the charge by its reference, subunits, and our reference as the note', async () => {
  const order = refundFor({ amount: 1007n })
  const refund = good(record(order, { status: 'pending', transaction: { id } }))
  const { refunds, posts } = await open({ refund })
  expect(await refunds.refund(order)).toEqual({
    state: 'pending',
    provider_ref: '77',
    provider_code: 'pending',
  })
  expect(posts().map(({ text }) => JSON.parse(text) as unknown)).toEqual([
    {
      transaction: order.charge.idempotency_key,
      amount: 1007,
      currency: 'GHS',
      merchant_note: order.refund_reference,
    },
  ])
})

describe('the answer to a refund', () => {
  const order = refundFor()
  for (const [name, refund, reply] of [
    ['processing', good(record(order, { status: 'processing' })), { state: 'pending' }],
    ['processed at once', good(record(order)), succeeded(order)],
    // Only the next check, by the id, shows that it is ours.
    ['processed, without the note', good(record(order, { merchant_note: null })), { state: 'pending' }],
    [
      'of another transaction',
      good(record(order, { transaction: 5 })),
      { state: 'unknown', words: 'The answer is about another transaction.' },
    ],
    ['HTTP 401', bad(401, 'Invalid key'), { state: 'not_sent', isRefusal: true }],
    ['HTTP 403', bad(403, 'Forbidden'), { state: 'not_sent', isRefusal: true }],
    ['HTTP 429', bad(429, 'Slow down'), { state: 'unknown', restMs: 180_000 }],
    ['HTTP 500', bad(500, 'Sorry'), { state: 'unknown' }],
    ['HTTP 200 without success', bad(200, 'Sorry'), { state: 'unknown' }],
  ] as const)
    test(name, async () => {
      const { refunds } = await open({ refund, refunds: good([]) })
      expect(await refunds.refund(order)).toMatchObject(reply)
    })
})

describe('a refusal', () => {
  const order = refundFor()
  const refused = bad(400, 'Your balance is not enough to fulfil this request', {
    code: 'insufficient_balance',
  })
  for (const [name, refund, words] of [
    ['too little balance', refused, /balance.*Top up the balance at Paystack, then retry/],
    ['fully reversed', bad(400, 'Transaction has been fully reversed'), /fully reversed$/],
    ['not found', bad(404, 'Transaction not found'), /not found$/],
    ['invalid', bad(422, 'Invalid amount'), /Invalid amount$/],
  ] as const)
    test(`${name}: failed, if Paystack lists no such refund`, async () => {
      const { refunds, posts } = await open({ refund, refunds: good([]) })
      expect(await refunds.refund(order)).toMatchObject({
        state: 'failed',
        isRefused: true,
        words: expect.stringMatching(words),
      })
      expect(posts()).toHaveLength(1)
    })

  test('the list has it all the same: its own status counts', async () => {
    const { refunds } = await open({ refund: refused, refunds: good([record(order)]) })
    expect(await refunds.refund(order)).toMatchObject(succeeded(order))
  })

  test('the list cannot be read: unknown', async () => {
    const { refunds } = await open({ refund: refused, refunds: bad(500, 'Sorry') })
    expect(await refunds.refund(order)).toEqual({
      state: 'unknown',
      words: 'HTTP 400, then HTTP 500',
      provider_code: 'insufficient_balance',
    })
  })
})

describe('after a lost answer the refunds of the transaction are listed', () => {
  const order = refundFor({ sent_at: new Date(), other_refs: ['70'] })
  const { charge } = order
  const another = `${order.refund_reference.slice(0, 10)}another`.padEnd(36, 'x')
  const unmatched = { state: 'unknown', words: expect.stringContaining('without our note') }
  for (const [name, list, reply] of [
    ['ours', [record(order)], succeeded(order)],
    [
      'ours, in a longer note',
      [record(order, { merchant_note: `by ${order.refund_reference}.` })],
      succeeded(order),
    ],
    ['ours, pending', [record(order, { status: 'pending' })], { state: 'pending', provider_ref: '77' }],
    [
      'ours, which needs attention',
      [record(order, { status: 'needs-attention' })],
      { state: 'needs_action', words: expect.stringContaining('bank account'), provider_ref: '77' },
    ],
    [
      'ours, failed',
      [record(order, { status: 'failed', reason: 'Account closed' })],
      { state: 'failed', words: 'Paystack could not refund it: Account closed', provider_ref: '77' },
    ],
    [
      'ours, with an unknown status',
      [record(order, { status: 'parked' })],
      { state: 'unknown', acknowledged: true, provider_code: 'parked' },
    ],
    [
      'ours, of another amount',
      [record(order, { amount: 2400 })],
      { state: 'other_refund', acknowledged: true },
    ],
    ['ours, in another currency', [record(order, { currency: 'NGN' })], { state: 'other_refund' }],
    ['ours, of no amount', [record(order, { amount: 'lots' })], { state: 'other_refund' }],
    [
      'ours, twice',
      [record(order), record(order, { id: 78, status: 'pending' })],
      { state: 'other_refund', words: expect.stringContaining('5000'), acknowledged: true },
    ],
    [
      'ours, failed and made again',
      [record(order, { id: 76, status: 'failed' }), record(order)],
      succeeded(order),
    ],
    ['another one of ours', [record(order, { merchant_note: another })], { state: 'absent' }],
    [
      'one that belongs to another refund',
      [record(order, { id: 70, merchant_note: null })],
      { state: 'absent' },
    ],
    ['one of another amount', [record(order, { amount: 100, merchant_note: null })], { state: 'absent' }],
    [
      'one from before the request',
      [record(order, { merchant_note: 'x', createdAt: '2020-01-01T00:00:00Z' })],
      { state: 'absent' },
    ],
    ['one of another transaction', [record(order, { transaction: 5 })], { state: 'absent' }],
    ['one without a note', [record(order, { merchant_note: undefined })], unmatched],
    [
      'one with the note of Paystack, which names the charge',
      [record(order, { merchant_note: `Refund for transaction ${charge.idempotency_key}` })],
      unmatched,
    ],
    ['none', [], { state: 'absent' }],
  ] as const)
    test(name, async () => {
      const { refunds, posts } = await open({ refunds: good(list) })
      expect(await refunds.checkRefund(order)).toMatchObject(reply)
      expect(posts()).toEqual([])
    })

  for (const [name, refunds] of [
    ['HTTP 500', bad(500, 'Sorry')],
    ['no list', good({})],
    ['a record without an id', good([record(order, { id: undefined })])],
  ] as const)
    test(`${name}: unknown`, async () => {
      const opened = await open({ refunds })
      const reply = await opened.refunds.checkRefund(order)
      expect(reply).toMatchObject({ state: 'unknown' })
      expect(reply).not.toHaveProperty('acknowledged')
    })

  test('a charge without an id of Paystack: unknown', async () => {
    const { refunds, provider } = await open({})
    const unnamed = { ...order, charge: { ...charge, provider_ref: null } }
    expect(await refunds.checkRefund(unnamed)).toEqual({
      state: 'unknown',
      words: 'The transaction has no id.',
    })
    expect(provider.asked).toEqual([])
  })
})

describe('a refund with an id is read by it', () => {
  const order = refundFor({ provider_ref: '77' })
  for (const [name, refundById, reply] of [
    ['processed', good(record(order)), succeeded(order)],
    [
      'the note is hidden',
      good(record(order, { merchant_note: undefined })),
      { ...succeeded(order), refund: order.idempotency_key },
    ],
    ['another id', good(record(order, { id: 78 })), { state: 'unknown', acknowledged: true }],
    [
      'another transaction',
      good(record(order, { transaction: 5 })),
      { state: 'unknown', acknowledged: true },
    ],
    ['another amount', good(record(order, { amount: 1 })), { state: 'other_refund', acknowledged: true }],
    ['HTTP 404', bad(404, 'Refund not found'), { state: 'unknown', acknowledged: true }],
    ['HTTP 500', bad(500, 'Sorry'), { state: 'unknown', acknowledged: true }],
  ] as const satisfies readonly (readonly [string, SimulatorReply, object])[])
    test(name, async () => {
      const { refunds, provider } = await open({ refundById })
      expect(await refunds.checkRefund(order)).toMatchObject(reply)
      expect(provider.asked.map(({ path }) => path)).toEqual(['/refund/77'])
    })
})
