import { describe, expect, test } from 'vitest'
import type { Order } from '../../../src/core/provider/order.ts'
import type { SimulatorRequest, SimulatorReply } from '../../simulators/simulator.ts'
import { check, orderFor } from './context.ts'
import { bad, good, openScripted, type Script } from './scripted.ts'

const id = 4_099_260_516
const checked = (changes: Partial<Order> = {}) => orderFor('card', { check_reversals: true, ...changes })
const verifyOf = (order: Order, status: 'success' | 'reversed', more: object = {}) =>
  good({ id, reference: order.idempotency_key, status, amount: 2500, currency: 'GHS', ...more })
const refund = (more: object) => ({
  id: 77,
  transaction: id,
  amount: 2500,
  currency: 'GHS',
  status: 'processed',
  refunded_at: '2026-11-17T12:00:00.000Z',
  ...more,
})
const refundedAt = new Date('2026-11-17T12:00:00Z')
const noDispute = bad(404, 'Dispute not found', { code: 'dispute_not_found' })
const words = expect.any(String)
const of = (refundId: string, amount: bigint) => ({ id: refundId, amount, words, at: refundedAt })

async function replyTo(order: Order, script: Script) {
  const { account, provider } = await openScripted(script)
  return { reply: await check(account, order), paths: provider.asked.map(({ path }) => path) }
}

const endless = ({ query }: SimulatorRequest): SimulatorReply =>
  good(Array.from({ length: Number(query.get('perPage')) }, () => refund({ transaction: 5 })))

describe('refunds', () => {
  for (const [name, listed, reversals] of [
    ['the whole amount', [refund({})], [of('77', 2500n)]],
    ['a part', [refund({ amount: 1000 })], [of('77', 1000n)]],
    ['an amount as text', [refund({ amount: '1000' })], [of('77', 1000n)]],
    [
      'two parts',
      [refund({ amount: 1000 }), refund({ id: 78, amount: 500 })],
      [of('77', 1000n), of('78', 500n)],
    ],
    ['the transaction as an object', [refund({ transaction: { id, reference: 'x' } })], [of('77', 2500n)]],
    ['the transaction as text', [refund({ transaction: String(id) })], [of('77', 2500n)]],
    ['of another transaction', [refund({ transaction: 5 }), refund({ id: 78 })], [of('78', 2500n)]],
    [
      'of another transaction, as an object',
      [refund({ transaction: { id: 5 } }), refund({ id: 78 })],
      [of('78', 2500n)],
    ],
    ['not processed', [refund({ status: 'failed' }), refund({ id: 78 })], [of('78', 2500n)]],
  ] as const)
    for (const status of ['success', 'reversed'] as const)
      test(`${status}: ${name}`, async () => {
        const order = checked()
        const script = { verify: verifyOf(order, status), refunds: good(listed), disputes: noDispute }
        const { reply } = await replyTo(order, script)
        expect(reply).toMatchObject({ state: 'paid', amount: 2500n, provider_ref: String(id), reversals })
      })

  test('the transaction is told by its reference alone', async () => {
    const order = checked()
    const listed = [
      refund({ transaction: undefined, transaction_reference: order.idempotency_key }),
      refund({ transaction: { reference: order.idempotency_key }, id: 78 }),
      refund({ transaction: undefined, transaction_reference: 'another', id: 79 }),
    ]
    const script = { verify: verifyOf(order, 'success'), refunds: good(listed), disputes: noDispute }
    const { reply } = await replyTo(order, script)
    expect(reply).toMatchObject({ reversals: [{ id: '77' }, { id: '78' }] })
  })

  test('reversed, and nothing is listed: the whole amount went back, by an id that stays', async () => {
    const order = orderFor('mtn_mobile_money')
    const script = { verify: verifyOf(order, 'reversed'), refunds: good([]) }
    const whole = { reversals: [{ id: 'reversed', amount: 2500n, words }] }
    for (let times = 0; times < 2; times++)
      expect((await replyTo(order, script)).reply).toMatchObject({ state: 'paid', amount: 2500n, ...whole })
  })

  test('reversed, with the fee borne by the customer: all that was charged went back', async () => {
    const order = orderFor('card')
    const verify = verifyOf(order, 'reversed', { amount: 2549, requested_amount: 2500, fees: 49 })
    const { reply } = await replyTo(order, { verify, refunds: good([]) })
    expect(reply).toMatchObject({ amount: 2500n, charged: 2549n, reversals: [{ amount: 2549n }] })
  })

  for (const [name, refunds] of [
    ['HTTP 500', bad(500, 'Sorry')],
    ['HTTP 404', bad(404, 'Not found')],
    ['HTTP 401', bad(401, 'Invalid key')],
    ['HTTP 429', bad(429, '')],
    ['no list', good({ id: 77 })],
    ['null', good(null)],
    ['no id', good([refund({ id: undefined })])],
    ['no amount', good([refund({ amount: 'lots' })])],
    ['no transaction', good([refund({ transaction: undefined })])],
    ['a refund that is no object', good([5])],
    ['a page', { status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>Sorry</h1>' }],
  ] as const)
    for (const status of ['success', 'reversed'] as const)
      test(`${status}, and the refunds are answered with ${name}: unknown`, async () => {
        const order = checked()
        const script = { verify: verifyOf(order, status), refunds, disputes: noDispute }
        expect((await replyTo(order, script)).reply).toMatchObject({ state: 'unknown', acknowledged: true })
      })

  for (const status of ['pending', 'processing', 'needs-attention'])
    test(`reversed, and its refund is ${status}: asked again`, async () => {
      const order = orderFor('card')
      const script = { verify: verifyOf(order, 'reversed'), refunds: good([refund({ status })]) }
      expect((await replyTo(order, script)).reply).toMatchObject({ state: 'unknown', acknowledged: true })
    })

  test('success, and its refund is pending: nothing went back yet', async () => {
    const order = checked()
    const refunds = good([refund({ status: 'pending' })])
    const { reply } = await replyTo(order, {
      verify: verifyOf(order, 'success'),
      refunds,
      disputes: noDispute,
    })
    expect(reply).toMatchObject({ state: 'paid', reversals: [] })
  })

  test('refunds are asked for by the transaction, and none from before the attempt', async () => {
    const order = checked()
    const queries: URLSearchParams[] = []
    const refunds = ({ query }: SimulatorRequest) => {
      queries.push(query)
      return good([])
    }
    await replyTo(order, { verify: verifyOf(order, 'success'), refunds, disputes: noDispute })
    expect(queries.map(query => query.get('transaction'))).toEqual([String(id)])
    expect(new Date(queries[0]?.get('from') ?? '').getTime()).toBeLessThan(order.started_at.getTime())
  })

  test('success is not asked for refunds unless the order says so', async () => {
    const order = orderFor('card')
    const { reply, paths } = await replyTo(order, { verify: verifyOf(order, 'success') })
    expect(reply).toMatchObject({ state: 'paid' })
    expect(reply).not.toHaveProperty('reversals')
    expect(paths).toHaveLength(1)
  })

  test('a transaction without an id cannot be looked up', async () => {
    const order = orderFor('card')
    const { reply } = await replyTo(order, { verify: verifyOf(order, 'reversed', { id: null }) })
    expect(reply).toMatchObject({ state: 'unknown', acknowledged: true })
  })

  test('a list of refunds of everybody is read to its end', async () => {
    const order = checked()
    const all = [
      ...Array.from({ length: 120 }, (_, index) => refund({ id: 1000 + index, transaction: 5 })),
      refund({}),
    ]
    const refunds = ({ query }: SimulatorRequest): SimulatorReply => {
      const size = Number(query.get('perPage'))
      const from = (Number(query.get('page')) - 1) * size
      return good(all.slice(from, from + size))
    }
    const script = { verify: verifyOf(order, 'success'), refunds, disputes: noDispute }
    expect((await replyTo(order, script)).reply).toMatchObject({ reversals: [of('77', 2500n)] })
  })

  test('a list without an end is given up', async () => {
    const order = checked()
    const script = { verify: verifyOf(order, 'success'), refunds: endless, disputes: noDispute }
    expect((await replyTo(order, script)).reply).toMatchObject({ state: 'unknown', acknowledged: true })
  })
})

const dispute = (more: object = {}) => ({
  id: 5,
  refund_amount: 2500,
  currency: 'GHS',
  status: 'awaiting-merchant-feedback',
  resolution: null,
  category: 'chargeback',
  transaction: { id },
  dueAt: '2026-11-20T12:00:00.000Z',
  ...more,
})

describe('disputes', () => {
  const due_at = new Date('2026-11-20T12:00:00Z')
  const open = { id: '5', state: 'open', amount: 2500n, words, due_at }

  for (const [name, told, disputes] of [
    ['one, as an object', dispute(), [open]],
    ['one, in a list', [dispute()], [open]],
    ['two', [dispute(), dispute({ id: 6 })], [open, { ...open, id: '6' }]],
    ['a part, as text', dispute({ refund_amount: '1000' }), [{ ...open, amount: 1000n }]],
    ['no amount: all of it', dispute({ refund_amount: null }), [open]],
    ['due_at', dispute({ dueAt: undefined, due_at: '2026-11-20T12:00:00.000Z' }), [open]],
    ['lost', dispute({ status: 'resolved', resolution: 'merchant-accepted' }), [{ ...open, state: 'lost' }]],
    ['won', dispute({ status: 'resolved', resolution: 'declined' }), [{ ...open, state: 'won' }]],
    ['archived', dispute({ status: 'archived', resolution: 'declined' }), [{ ...open, state: 'won' }]],
    [
      'declined, and with the bank',
      dispute({ status: 'awaiting-bank-feedback', resolution: 'declined' }),
      [open],
    ],
    ['resolved by a word that we do not know', dispute({ status: 'resolved', resolution: 'auto' }), [open]],
    ['resolved by none', dispute({ status: 'resolved' }), [open]],
    [
      'of another transaction',
      [dispute({ transaction: { id: 6 } }), dispute({ id: 7 })],
      [{ ...open, id: '7' }],
    ],
    ['an empty list', [], []],
    ['null', null, []],
  ] as const)
    test(name, async () => {
      const order = checked()
      const script = { verify: verifyOf(order, 'success'), refunds: good([]), disputes: good(told) }
      const { reply, paths } = await replyTo(order, script)
      expect(reply).toMatchObject({ state: 'paid', disputes })
      expect(paths).toContain(`/dispute/transaction/${id}`)
    })

  test('none: 404', async () => {
    const order = checked()
    const script = { verify: verifyOf(order, 'success'), refunds: good([]), disputes: noDispute }
    expect((await replyTo(order, script)).reply).toMatchObject({ state: 'paid', disputes: [] })
  })

  for (const [name, disputes] of [
    ['HTTP 500', bad(500, 'Sorry')],
    ['HTTP 403', bad(403, 'No')],
    ['no such route', bad(404, 'Cannot GET /dispute/transaction/5')],
    ['no id', good(dispute({ id: undefined }))],
    ['no amount at all', good(dispute({ refund_amount: 'lots' }))],
    ['a word', good('disputed')],
  ] as const)
    test(`${name}: unknown`, async () => {
      const order = checked()
      const script = { verify: verifyOf(order, 'success'), refunds: good([]), disputes }
      expect((await replyTo(order, script)).reply).toMatchObject({ state: 'unknown', acknowledged: true })
    })

  test('the refund of a lost dispute is the same money', async () => {
    const order = checked()
    const lost = dispute({ status: 'resolved', resolution: 'merchant-accepted', refund_amount: 1000 })
    const refunds = good([refund({ amount: 1000, dispute: 5 }), refund({ id: 78, amount: 500 })])
    const script = { verify: verifyOf(order, 'success'), refunds, disputes: good(lost) }
    const { reply } = await replyTo(order, script)
    expect(reply).toMatchObject({
      reversals: [of('78', 500n)],
      disputes: [{ id: '5', state: 'lost', amount: 1000n }],
    })
  })

  test('reversed by a lost dispute: the money is counted once', async () => {
    const order = checked()
    const lost = dispute({ status: 'resolved', resolution: 'merchant-accepted' })
    const script = { verify: verifyOf(order, 'reversed'), refunds: good([]), disputes: good(lost) }
    expect((await replyTo(order, script)).reply).toMatchObject({
      reversals: [],
      disputes: [{ state: 'lost' }],
    })
  })
})

for (const status of ['success', 'reversed'] as const)
  test(`${status} of another order: nothing of it is looked up`, async () => {
    const order = checked()
    const verify = verifyOf(order, status, { reference: 'another' })
    const { reply, paths } = await replyTo(order, { verify })
    expect(reply).toMatchObject({ state: 'paid', order: 'another' })
    expect(paths).toHaveLength(1)
  })
