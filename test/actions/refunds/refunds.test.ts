import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { closeTask } from '../../../src/actions/payments/closeTask.ts'
import { pollAttempt } from '../../../src/actions/payments/callProvider.ts'
import { pay } from '../../../src/actions/payments/pay.ts'
import { handleWebhook } from '../../../src/actions/providers/handleWebhook.ts'
import { createOverdueWatch } from '../../../src/actions/providers/overdueAttempts.ts'
import { pollDue } from '../../../src/actions/providers/pollDue.ts'
import { callRefund } from '../../../src/actions/refunds/callRefund.ts'
import { createRefund, type RefundRequest } from '../../../src/actions/refunds/createRefund.ts'
import { createRefundPollers, pollDueRefunds } from '../../../src/actions/refunds/pollRefunds.ts'
import { retryRefund } from '../../../src/actions/refunds/retryRefund.ts'
import { storeRefundRecord } from '../../../src/actions/refunds/storeRefundRecord.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import type { ProviderAccount } from '../../../src/core/provider/provider.ts'
import type { ProviderRefunds, RefundReply } from '../../../src/core/provider/refundOrder.ts'
import type { Refund } from '../../../src/core/refund/refund.ts'
import { webhookIdOf } from '../../../src/runtime/providers/accounts.ts'
import { type Db, openDb, sql } from '../../../src/store/db.ts'
import { claimDueRefunds } from '../../../src/store/refunds/dueRefunds.ts'
import { refundsOfPayment } from '../../../src/store/refunds/merchantRefunds.ts'
import { withoutSkipLocked } from '../../support/database/withoutSkipLocked.ts'
import { fixedAccounts } from '../../support/payments/fixedAccounts.ts'
import { openPaymentDatabase, type PaymentDatabase } from '../../support/payments/paymentDatabase.ts'
import { aWebhook, madeReply, refundingProvider } from '../../support/payments/refundingProvider.ts'
import { after, hours, minutes, noon, seconds, yes } from '../../support/payments/rows.ts'
import { aPayRequest, simulatedMethod, simulatedNode, terms } from '../../support/payments/simulatedNode.ts'

let lives: PaymentDatabase
let other: Db
beforeAll(async () => {
  lives = await openPaymentDatabase(10)
  other = openDb(lives.url, 10)
})
afterAll(async () => {
  await other.end()
  await lives.close()
})

let payers = 0
const noTrouble = (error: unknown) => expect(error).toBeUndefined()

// A paid payment of 25.00 at a scripted provider, on two nodes.
async function paidPayment(refundTerms: Partial<ProviderRefunds> = {}) {
  const provider = refundingProvider(refundTerms)
  const [unpaid] = (await lives.addPayments(1, noon)) as [Payment]
  let now = noon
  const webhook = { handleWebhook: () => [{ idempotency_key: attempt_id, check_reversals: true }] }
  const nodes = [lives.db, other].map(db => simulatedNode(db, () => now, { ...provider.account, ...webhook }))
  const node = nodes[0] as (typeof nodes)[number]
  payers++
  const request = aPayRequest({
    address: `203.0.113.${payers}`,
    input: { phone: `024${4_000_000 + payers}` },
  })
  await pay(node, unpaid, request)
  const stored = async () => {
    const [one] = await lives.read([unpaid.tx_reference])
    if (!one) throw new Error('no payment')
    return { ...one, refunds: await refundsOfPayment(lives.db, unpaid) }
  }
  const { payment, attempts } = await stored()
  expect(payment.status).toBe('paid')
  const attempt_id = attempts[0]?.attempt_id as string
  const request0: RefundRequest = {
    merchant_id: payment.merchant_id,
    mode: 'test',
    payment: { tx_reference: payment.tx_reference },
    refund_id: 'R-1',
    amount: 1000n,
    source: 'payment',
    reason: 'Broken.',
    by: { requested_by: 'merchant' },
  }
  const ask = (changed: Partial<RefundRequest> = {}, on = 0) =>
    createRefund(nodes[on] as typeof node, {
      ...request0,
      ...changed,
      refund_id: changed.refund_id === null ? null : `${changed.refund_id ?? 'R'}-${payment.tx_reference}`,
    })
  const operator = (changed: Partial<RefundRequest> = {}) =>
    ask({ refund_id: null, by: { requested_by: 'operator', operator: 'Esi' }, ...changed })
  const webhookArrives = () => handleWebhook(node, webhookIdOf('simulated'), aWebhook)
  return {
    ...provider,
    payment,
    node,
    nodes,
    attempt_id,
    stored,
    ask,
    operator,
    setNow: (at: Date) => void (now = at),
    webhookArrives,
    poll: () => pollDueRefunds(node, noTrouble),
    pollCharge: () => pollDue(node, noTrouble),
  }
}

const created = (refund: Partial<Refund>) =>
  expect.objectContaining({ done: 'created', refund: expect.objectContaining(refund) })

const set = (settings: Record<string, string>) =>
  lives.db.rows(
    sql`update merchants set settings = ${JSON.stringify(settings)}::jsonb where merchant_id = ${lives.merchant_id}`,
  )

const lose = () => Promise.reject(new Error('connection reset'))

const listed = async (
  { webhookArrives, pollCharge, setNow }: Awaited<ReturnType<typeof paidPayment>>,
  at: Date,
) => {
  setNow(at)
  await webhookArrives()
  await pollCharge()
}

const manual = async () => {
  const one = await paidPayment()
  const account = { start: one.account.start, check: one.account.check }
  const node = simulatedNode(lives.db, () => noon, account)
  const ask = (amount: bigint | 'left') =>
    createRefund(node, {
      merchant_id: one.payment.merchant_id,
      mode: 'test',
      payment: { tx_reference: one.payment.tx_reference },
      refund_id: null,
      amount,
      source: 'payment',
      reason: '',
      by: { requested_by: 'operator', operator: 'Esi' },
    })
  return { ...one, node, manualAsk: ask }
}

describe('creation', () => {
  test('a whole refund: stored, sent, succeeded, with events and the refunded amount', async () => {
    const { ask, stored, posts, made, payment } = await paidPayment()
    expect(await ask({ amount: 'left' })).toEqual(
      created({ state: 'succeeded', amount: 2500n, kind: 'provider', sends: 1, currency: 'GHS' }),
    )
    expect(posts).toMatchObject([
      { amount: 2500n, is_whole: true, is_first_sending: true, reason: 'Broken.' },
    ])
    const { payment: refunded, events, refunds } = await stored()
    expect(refunded).toMatchObject({ status: 'paid', refunded_amount: 2500n, reversed_amount: null })
    expect(refunds).toMatchObject([
      {
        state: 'succeeded',
        provider_ref: made[0]?.id,
        succeeded_at: noon,
        next_poll_at: null,
        ended_at: noon,
      },
    ])
    expect(events.slice(-2).map(({ kind, cause, reason }) => [kind, cause, reason])).toEqual([
      ['refund_requested', 'merchant', 'GHS 25.00. Broken.'],
      ['refund_succeeded', 'provider', 'GHS 25.00'],
    ])
    expect(payment.refunded_amount).toBeNull()
  })

  test('parts: never more than the payment, and a failed one frees its amount', async () => {
    const { ask, stored, script } = await paidPayment()
    expect(await ask({ refund_id: 'a', amount: 1000n })).toEqual(created({ state: 'succeeded' }))
    script.refund = async () => ({ state: 'failed', words: 'No.' })
    expect(await ask({ refund_id: 'b', amount: 1500n })).toEqual(
      created({ state: 'failed', state_reason: 'No.' }),
    )
    script.refund = async () => ({ state: 'pending', provider_ref: 'R-9' })
    expect(await ask({ refund_id: 'c', amount: 1200n })).toEqual(created({ state: 'pending' }))
    expect(await ask({ refund_id: 'd', amount: 301n })).toEqual({ fault: 'more_than_left', left: 300n })
    expect((await stored()).payment.refunded_amount).toBe(1000n)
  })

  test('a repeated request finds the same refund; other fields are refused', async () => {
    const one = await paidPayment()
    const first = await one.ask()
    expect(await one.ask({}, 1)).toMatchObject({ done: 'repeated', refund: { state: 'succeeded' } })
    for (const changed of [{ amount: 1001n }, { reason: 'Other.' }])
      expect(await one.ask(changed)).toMatchObject({
        fault: 'other_fields',
        stored: (first as { refund: Refund }).refund,
      })
    expect(one.posts).toHaveLength(1)
  })

  test('a refund_id of another payment is refused, also at the same moment', async () => {
    const [first, second] = [await paidPayment(), await paidPayment()]
    const refund_id = 'shared'
    const request = ({ payment }: { payment: Payment }): RefundRequest => ({
      merchant_id: payment.merchant_id,
      mode: 'test',
      payment: { tx_reference: payment.tx_reference },
      refund_id,
      amount: 500n,
      source: 'payment',
      reason: '',
      by: { requested_by: 'merchant' },
    })
    const both = await Promise.all([
      createRefund(first.node, request(first)),
      createRefund(second.nodes[1] as typeof second.node, request(second)),
    ])
    expect(both.map(one => ('fault' in one ? one.fault : one.done)).toSorted()).toEqual([
      'created',
      'other_fields',
    ])
    expect(first.made.length + second.made.length).toBe(1)
  })

  test('20 clicks on two nodes at once make one refund', async () => {
    const { ask, made, stored } = await paidPayment({ isIdempotent: false })
    const all = await Promise.all(Array.from({ length: 20 }, (_, at) => ask({}, at % 2)))
    expect(all.map(one => ('done' in one ? one.done : one.fault)).toSorted()).toEqual([
      'created',
      ...Array.from({ length: 19 }, () => 'repeated'),
    ])
    expect(made).toHaveLength(1)
    expect((await stored()).refunds).toHaveLength(1)
  })

  test('20 refunds of different ids at once never exceed the payment', async () => {
    const { ask, made, stored } = await paidPayment({ isIdempotent: false })
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, at) => ask({ refund_id: `n${at}`, amount: 600n }, at % 2)),
    )
    expect(all.filter(one => 'done' in one)).toHaveLength(4)
    expect(made.reduce((sum, { amount }) => sum + amount, 0n)).toBe(2400n)
    expect((await stored()).payment.refunded_amount).toBe(2400n)
  })

  for (const [what, refundTerms, changed, fault] of [
    ['too old', { withinMs: hours(1) }, {}, { fault: 'too_old', days: 0 }],
    ['only whole', { hasPartial: false }, {}, { fault: 'only_whole', amount: 2500n }],
    ['below the minimum', { minimum: 1001n }, {}, { fault: 'below_minimum', minimum: 1001n }],
    ['surplus of a paying charge', {}, { source: 'surplus' }, { fault: 'more_than_left', left: 0n }],
    ['no such attempt', {}, { attempt_number: 7 }, { fault: 'not_paid' }],
    ['another payment', {}, { payment: { tx_reference: 'TG-NOPE' } }, { fault: 'no_such_payment' }],
    ['another mode', {}, { mode: 'live' }, { fault: 'no_such_payment' }],
  ] as const)
    test(`refused: ${what}`, async () => {
      const { ask, setNow, posts } = await paidPayment(refundTerms)
      setNow(after(hours(2)))
      expect(await ask(changed)).toEqual(fault)
      expect(posts).toEqual([])
    })

  test('an invoice_id names the payment; an unpaid one is refused', async () => {
    const { ask, payment, node } = await paidPayment()
    expect(await ask({ payment: { invoice_id: payment.invoice_id } })).toEqual(
      created({ state: 'succeeded' }),
    )
    const [unpaid] = (await lives.addPayments(1, noon)) as [Payment]
    const request = {
      ...payment,
      payment: { invoice_id: unpaid.invoice_id },
      refund_id: 'x1',
      amount: 1n,
      reason: '',
    }
    const by = { requested_by: 'merchant' } as const
    expect(await createRefund(node, { ...request, source: 'payment', by })).toEqual({ fault: 'not_paid' })
  })
})

describe('the settings of a merchant', () => {
  test('a daily limit counts all payments of the day, concurrently too, and not the operator', async () => {
    await lives.db.rows(sql`delete from refunds where merchant_id = ${lives.merchant_id}`)
    const payments = [await paidPayment(), await paidPayment(), await paidPayment(), await paidPayment()]
    await set({ refund_daily_limit: '30' })
    const all = await Promise.all(payments.map(({ ask }, at) => ask({}, at % 2)))
    expect(all.filter(one => 'done' in one)).toHaveLength(3)
    expect(all.find(one => 'fault' in one)).toEqual({ fault: 'over_daily_limit', left: 0n })
    const first = payments[0] as (typeof payments)[number]
    expect(await first.operator({ amount: 500n })).toEqual(created({ state: 'succeeded', operator: 'Esi' }))
    for (const one of payments) one.setNow(after(hours(12)))
    expect(await (payments[1] as typeof first).ask({ refund_id: 'next day' })).toEqual(created({}))
    await set({})
  })
})

describe('a lost answer', () => {
  test('a provider that is not idempotent gets one request: found later, it has succeeded', async () => {
    const { ask, script, make, posts, made, setNow, poll, stored } = await paidPayment({
      isIdempotent: false,
    })
    script.refund = async order => {
      make(order)
      return lose()
    }
    expect(await ask()).toEqual(created({ state: 'unknown' }))
    setNow(after(minutes(1)))
    await poll()
    expect((await stored()).refunds).toMatchObject([{ state: 'succeeded', provider_ref: made[0]?.id }])
    expect(posts).toHaveLength(1)
  })

  test('not found: failed after the provider would show it, and never sent again', async () => {
    const slow = { isIdempotent: false, visibleWithinMs: minutes(5) }
    const { ask, script, posts, setNow, poll, stored } = await paidPayment(slow)
    script.refund = lose
    await ask()
    for (const [minute, state] of [
      [1, 'unknown'],
      [4, 'unknown'],
      [6, 'failed'],
    ] as const) {
      setNow(after(minutes(minute)))
      await poll()
      expect((await stored()).refunds).toMatchObject([{ state }])
    }
    expect(posts).toHaveLength(1)
  })

  test('never certain: it stays unknown, with a task, and is not sent again', async () => {
    const { ask, script, posts, setNow, poll, stored, node } = await paidPayment({ isIdempotent: false })
    script.refund = lose
    await ask()
    setNow(after(minutes(2)))
    await poll()
    const { refunds, tasks } = await stored()
    expect(refunds).toMatchObject([{ state: 'unknown' }])
    expect(tasks).toMatchObject([{ kind: 'refund_unclear', amount: 1000n, closed_at: null }])
    expect(posts).toHaveLength(1)
    expect(await retryRefund(node, refunds[0] as Refund, 'Esi')).toMatchObject({ fault: 'not_failed' })
    const record = { by: 'Esi', outcome: { done: 'failed', note: 'Not in the dashboard.' } } as const
    expect(await storeRefundRecord(node, refunds[0] as Refund, record, after(minutes(3)))).toMatchObject({
      done: 'recorded',
    })
    const ended = await stored()
    expect(ended.refunds).toMatchObject([{ state: 'failed', recorded_by: 'Esi' }])
    expect(ended.tasks).toMatchObject([{ kind: 'refund_unclear', closed_at: after(minutes(3)) }])
  })

  test('claimed on a database that refuses to skip locked rows, as a sharded one does', async () => {
    const { ask, script, payment } = await paidPayment()
    script.refund = lose
    await ask()
    const refusing = withoutSkipLocked(lives.db)
    const room = { account: 'simulated', mode: 'test', identities: [], most: 50 } as const
    const lease = { now: after(minutes(1)), until: after(minutes(2)) }
    const claimed = await claimDueRefunds(refusing.db, [room], lease)
    expect(refusing.refused()).toBe(1)
    expect(claimed.map(({ tx_reference }) => tx_reference)).toContain(payment.tx_reference)
  })

  test('an idempotent provider gets the same id again', async () => {
    const { ask, script, posts, made, setNow, poll, stored } = await paidPayment()
    const { refund } = script
    script.refund = lose
    await ask()
    script.refund = refund
    setNow(after(minutes(1)))
    await poll()
    expect((await stored()).refunds).toMatchObject([{ state: 'succeeded', sends: 2 }])
    expect(new Set(posts.map(({ idempotency_key }) => idempotency_key)).size).toBe(1)
    expect(posts.map(order => order.is_first_sending)).toEqual([true, false])
    expect(made).toHaveLength(1)
  })

  test('certainly not sent: it stays requested and is sent later, also to a provider that is not idempotent', async () => {
    const { ask, script, posts, made, setNow, poll, stored } = await paidPayment({ isIdempotent: false })
    const { refund } = script
    script.refund = async () => ({ state: 'not_sent', words: 'connect ECONNREFUSED' })
    expect(await ask()).toEqual(created({ state: 'requested', sent_at: null, sends: 1 }))
    script.refund = refund
    setNow(after(minutes(1)))
    await poll()
    expect((await stored()).refunds).toMatchObject([{ state: 'succeeded', sends: 2 }])
    expect([posts.length, made.length]).toEqual([2, 1])
  })

  test('silent for a day: a task; the provider is asked on', async () => {
    const { ask, script, setNow, poll, stored } = await paidPayment({ isIdempotent: false })
    script.refund = lose
    script.check = lose
    await ask()
    setNow(after(hours(25)))
    await poll()
    const { refunds, tasks } = await stored()
    expect(tasks).toMatchObject([{ kind: 'refund_unclear' }])
    expect(refunds[0]?.next_poll_at).toEqual(after(hours(26)))
  })

  test('refused credentials of the refund product: a task, and it is sent later', async () => {
    const { ask, script, stored } = await paidPayment()
    script.refund = async () => ({ state: 'not_sent', words: 'HTTP 401', isRefusal: true })
    await ask()
    expect((await stored()).tasks).toMatchObject([{ kind: 'account_refused', closed_at: null }])
  })
})

describe('success after failed', () => {
  test('it is recorded, and more than the charge is a task', async () => {
    const { ask, script, setNow, poll, stored, make } = await paidPayment()
    script.refund = async () => ({ state: 'failed', words: 'No.' })
    await ask({ refund_id: 'a', amount: 2500n })
    script.refund = async order => madeReply(order, make(order).id)
    await ask({ refund_id: 'b', amount: 2500n })
    expect((await stored()).payment.refunded_amount).toBe(2500n)
    script.check = async order => madeReply(order, 'R-late')
    setNow(after(minutes(3)))
    await poll()
    const { refunds, tasks, payment } = await stored()
    expect(refunds.map(({ state }) => state)).toEqual(['succeeded', 'succeeded'])
    expect(refunds.map(({ provider_ref }) => provider_ref)).toContain('R-late')
    expect(tasks).toMatchObject([{ kind: 'refund_exceeds', amount: 2500n }])
    expect(payment.refunded_amount).toBe(5000n)
  })

  test('within the charge it is no task', async () => {
    const { ask, script, setNow, poll, stored } = await paidPayment()
    script.refund = async () => ({ state: 'failed', words: 'No.' })
    await ask()
    script.check = async order => madeReply(order, 'R-late')
    setNow(after(minutes(3)))
    await poll()
    expect(await stored()).toMatchObject({ tasks: [], payment: { refunded_amount: 1000n } })
  })

  test('another amount than requested: unknown, with a task', async () => {
    const { ask, script, stored } = await paidPayment()
    script.refund = async order => ({
      ...(madeReply(order) as RefundReply & { state: 'succeeded' }),
      amount: 999n,
    })
    expect(await ask()).toEqual(created({ state: 'unknown' }))
    expect((await stored()).tasks).toMatchObject([{ kind: 'refund_unclear' }])
  })
})

describe('a refund of ours is never a reversal', () => {
  const noReversal = { payment: { reversed_amount: null, reversed_at: null }, reversals: [] }

  test('webhook after the answer', async () => {
    const one = await paidPayment({ isIdempotent: false })
    await one.ask()
    await listed(one, after(minutes(1)))
    expect(await one.stored()).toMatchObject({ ...noReversal, refunds: [{ state: 'succeeded' }], tasks: [] })
  })

  test('webhook during the call: it waits for the id, then the refund has it', async () => {
    const one = await paidPayment({ isIdempotent: false })
    const { refund } = one.script
    one.script.refund = async order => {
      const reply = await refund(order)
      await listed(one, after(seconds(1)))
      expect(await one.stored()).toMatchObject({ ...noReversal, refunds: [{ state: 'requested' }] })
      return reply
    }
    one.script.check = async () => ({ state: 'unknown', words: '' })
    expect(await one.ask()).toEqual(created({ state: 'succeeded' }))
    one.setNow(after(minutes(1)))
    await one.pollCharge()
    const { attempts, ...rest } = await one.stored()
    expect(rest).toMatchObject({ ...noReversal, refunds: [{ state: 'succeeded' }] })
    expect(attempts).toMatchObject([{ next_poll_at: null }])
  })

  test('webhook before the answer, which is lost: found by its question, by our reference in the list, or deferred', async () => {
    const one = await paidPayment({ isIdempotent: false })
    one.script.refund = async order => {
      one.make(order)
      throw new Error('connection reset')
    }
    one.script.check = async () => ({ state: 'unknown', words: '' })
    await one.ask()
    await listed(one, after(minutes(1)))
    expect(await one.stored()).toMatchObject({ ...noReversal, refunds: [{ state: 'unknown' }] })
    one.script.listed = () =>
      one.made.map(({ id, amount, refund_reference }) => ({ id, amount, words: '', refund_reference }))
    await listed(one, after(minutes(2)))
    expect(await one.stored()).toMatchObject({
      ...noReversal,
      refunds: [{ state: 'succeeded', provider_ref: one.made[0]?.id }],
    })
  })

  test('a reversal beside our refund is recorded once the refund has its id', async () => {
    const one = await paidPayment({ isIdempotent: false })
    one.script.refund = async () => ({ state: 'pending' })
    await one.ask()
    const all = [
      { id: 'R-ours', amount: 1000n, words: '' },
      { id: 'X', amount: 300n, words: 'By the provider.' },
    ]
    one.script.listed = () => all
    await listed(one, after(seconds(10)))
    expect(await one.stored()).toMatchObject(noReversal)
    one.script.check = async order => madeReply(order, 'R-ours')
    one.setNow(after(minutes(2)))
    await one.poll()
    await one.pollCharge()
    expect(await one.stored()).toMatchObject({
      payment: { reversed_amount: 300n, refunded_amount: 1000n },
      reversals: [{ reversal_id: 'X' }],
    })
  })

  test('a reversal that was recorded first and turns out to be ours is not counted', async () => {
    const one = await paidPayment({ isIdempotent: false })
    one.script.refund = async () => ({ state: 'failed', words: 'No.' })
    await one.ask()
    one.script.listed = () => [{ id: 'R-late', amount: 1000n, words: '' }]
    await listed(one, after(minutes(1)))
    expect(await one.stored()).toMatchObject({
      payment: { reversed_amount: 1000n },
      reversals: [{ reversal_id: 'R-late' }],
    })
    one.script.check = async order => madeReply(order, 'R-late')
    one.setNow(after(minutes(3)))
    await one.poll()
    const { payment, refunds, reversals, events } = await one.stored()
    expect(payment).toMatchObject({ reversed_amount: null, reversed_at: null, refunded_amount: 1000n })
    expect(refunds).toMatchObject([{ state: 'succeeded' }])
    expect(reversals).toMatchObject([{ refund_reference: refunds[0]?.refund_reference }])
    expect(events.slice(-2).map(({ kind }) => kind)).toEqual(['reversal_was_refund', 'refund_succeeded'])
    await listed(one, after(minutes(4)))
    expect((await one.stored()).payment.reversed_amount).toBeNull()
  })

  test('a webhook that names the refund prompts a question about it', async () => {
    const one = await paidPayment()
    one.script.refund = async () => ({ state: 'pending' })
    await one.ask()
    const [refund] = (await one.stored()).refunds as [Refund]
    const update = [{ idempotency_key: one.attempt_id, refund_key: refund.refund_reference }]
    const node = simulatedNode(lives.db, () => after(seconds(1)), {
      ...one.account,
      handleWebhook: () => update,
    })
    await handleWebhook(node, webhookIdOf('simulated'), aWebhook)
    one.script.check = async order => madeReply(order, 'R-1')
    one.setNow(after(seconds(1)))
    expect(await one.poll()).toBeGreaterThanOrEqual(1)
    expect((await one.stored()).refunds).toMatchObject([{ state: 'succeeded' }])
  })
})

describe('by hand', () => {
  const record = { by: 'Esi', outcome: { done: 'succeeded', at: noon, reference: 'BANK-7' } } as const

  test('a provider without refunds: a task until an operator has recorded it', async () => {
    const { node, manualAsk, stored, posts } = await manual()
    expect(await manualAsk('left')).toEqual(
      created({ kind: 'manual', state: 'needs_action', next_poll_at: null }),
    )
    const { refunds, tasks, events } = await stored()
    expect(tasks).toMatchObject([{ kind: 'refund_needs_action', closed_at: null }])
    expect(events.slice(-2).map(({ kind }) => kind)).toEqual(['refund_requested', 'refund_needs_action'])
    const done = await storeRefundRecord(node, refunds[0] as Refund, record, after(hours(1)))
    expect(done).toMatchObject({
      done: 'recorded',
      refund: { state: 'succeeded', recorded_reference: 'BANK-7', succeeded_at: noon },
    })
    expect(await stored()).toMatchObject({
      payment: { refunded_amount: 2500n },
      tasks: [{ kind: 'refund_needs_action', closed_at: after(hours(1)) }],
    })
    const again = await storeRefundRecord(node, refunds[0] as Refund, record, after(hours(2)))
    expect(again).toMatchObject({ done: 'refused', refund: { state: 'succeeded' } })
    expect(posts).toEqual([])
  })

  test('the task stays while another refund of the charge waits', async () => {
    const { node, manualAsk, stored } = await manual()
    await manualAsk(1000n)
    await manualAsk(500n)
    const { refunds } = await stored()
    await storeRefundRecord(node, refunds[0] as Refund, record, after(hours(1)))
    expect((await stored()).tasks).toMatchObject([{ kind: 'refund_needs_action', closed_at: null }])
    await storeRefundRecord(node, refunds[1] as Refund, record, after(hours(1)))
    expect((await stored()).tasks).toMatchObject([
      { kind: 'refund_needs_action', closed_at: after(hours(1)) },
    ])
  })

  test('pending and succeeded refunds are not recorded by hand', async () => {
    const { ask, script, stored, node } = await paidPayment()
    script.refund = async () => ({ state: 'pending' })
    await ask()
    const [refund] = (await stored()).refunds as [Refund]
    expect(await storeRefundRecord(node, refund, record, noon)).toMatchObject({ done: 'refused' })
  })

  test('retry makes a new refund after failed, and in no other state', async () => {
    const { ask, script, stored, node, made, poll } = await paidPayment()
    const { refund: makes } = script
    for (const reply of [
      { state: 'pending' },
      { state: 'needs_action', words: 'Bank details.' },
    ] as RefundReply[]) {
      script.refund = async () => reply
      await ask({ refund_id: reply.state, amount: 100n })
    }
    for (const refund of (await stored()).refunds)
      expect(await retryRefund(node, refund, 'Esi')).toEqual({ fault: 'not_failed', refund })
    script.refund = async () => ({ state: 'failed', words: 'No.' })
    await ask({ refund_id: 'f', amount: 700n })
    const failed = (await stored()).refunds.find(({ state }) => state === 'failed') as Refund
    script.refund = makes
    expect(await retryRefund(node, failed, 'Esi')).toEqual(
      created({
        state: 'requested', // a worker of the gateway sends it
        amount: 700n,
        reason: 'Broken.',
        requested_by: 'operator',
        operator: 'Esi',
      }),
    )
    await poll()
    expect(made).toHaveLength(1)
    expect((await stored()).refunds).toHaveLength(4)
  })

  test('a success that is reported while an operator retries makes no second refund', async () => {
    const { ask, script, stored, node, made, poll, setNow } = await paidPayment()
    script.refund = async () => ({ state: 'failed', words: 'No.' })
    await ask({ refund_id: 'f', amount: 300n })
    const [failed] = (await stored()).refunds as [Refund]
    script.check = async order => madeReply(order, 'R-late')
    setNow(after(minutes(3)))
    await poll()
    const [refund] = (await stored()).refunds as [Refund]
    expect(refund.state).toBe('succeeded')
    expect(await retryRefund(node, failed, 'Esi')).toEqual({ fault: 'not_failed', refund })
    await poll()
    expect(made).toHaveLength(0)
    expect((await stored()).refunds).toHaveLength(1)
  })

  test('two operators who retry the same refund at once make one', async () => {
    const { ask, script, stored, node, made, poll } = await paidPayment()
    const { refund: makes } = script
    script.refund = async () => ({ state: 'failed', words: 'No.' })
    await ask({ refund_id: 'f', amount: 300n })
    const [failed] = (await stored()).refunds as [Refund]
    script.refund = makes
    const results = await Promise.all(
      ['Esi', 'Yaw', 'Esi'].map(operator => retryRefund(node, failed, operator)),
    )
    expect(new Set(results.map(one => one && 'refund' in one && one.refund.refund_reference)).size).toBe(1)
    await poll()
    expect(await retryRefund(node, failed, 'Yaw')).toMatchObject({ done: 'repeated' })
    expect(made).toHaveLength(1)
    expect((await stored()).refunds).toHaveLength(2)
  })
})

describe('surplus', () => {
  test('a duplicate charge is refunded by an operator, which closes its task', async () => {
    const one = await paidPayment()
    const [payment] = (await lives.addPayments(1, noon)) as [Payment]
    const { node } = one
    const failing = simulatedNode(lives.db, () => noon, {
      ...one.account,
      start: async () => ({ state: 'failed', reason: 'declined' }),
    })
    payers++
    const input = { phone: `024${4_000_000 + payers}` }
    await pay(failing, payment, aPayRequest({ input, address: `203.0.113.${payers}` }))
    one.setNow(after(minutes(1)))
    await pay(node, payment, aPayRequest({ number: 2, input, address: `203.0.113.${payers}` }))
    const read = async () => (await lives.read([payment.tx_reference]))[0]
    const first = (await read())?.attempts[0]
    if (!first) throw new Error('no attempt')
    await pollAttempt(node, first)
    expect((await read())?.tasks).toMatchObject([{ kind: 'refund', closed_at: null }])
    const request = {
      ...payment,
      payment: { tx_reference: payment.tx_reference },
      attempt_number: 1,
      refund_id: null,
      amount: 'left',
      reason: '',
      by: { requested_by: 'operator', operator: 'Esi' },
    } as const
    expect(await createRefund(node, { ...request, source: 'payment' })).toEqual({
      fault: 'more_than_left',
      left: 0n,
    })
    expect(await createRefund(node, { ...request, source: 'surplus' })).toEqual(
      created({ state: 'succeeded', amount: 2500n }),
    )
    const after1 = await read()
    expect(after1?.tasks).toMatchObject([{ kind: 'refund', closed_note: 'The charge was refunded.' }])
    expect(after1?.payment).toMatchObject({ status: 'paid', refunded_amount: 0n })
  })

  test('another amount than requested: refunded completely, its attempt ends', async () => {
    const one = await paidPayment()
    const [payment] = (await lives.addPayments(1, noon)) as [Payment]
    const node = simulatedNode(lives.db, () => noon, {
      ...one.account,
      start: async () => ({ ...yes, amount: 2600n }),
    })
    payers++
    await pay(
      node,
      payment,
      aPayRequest({ input: { phone: `024${4_000_000 + payers}` }, address: `203.0.113.${payers}` }),
    )
    const read = async () => (await lives.read([payment.tx_reference]))[0]
    expect((await read())?.attempts).toMatchObject([{ state: 'disputed', charged: 2600n }])
    const done = await createRefund(node, {
      ...payment,
      payment: { tx_reference: payment.tx_reference },
      attempt_number: 1,
      refund_id: null,
      amount: 'left',
      source: 'surplus',
      reason: '',
      by: { requested_by: 'operator', operator: 'Esi' },
    })
    expect(done).toEqual(created({ state: 'succeeded', amount: 2600n }))
    expect(await read()).toMatchObject({
      payment: { status: 'failed', refunded_amount: 0n },
      attempts: [{ state: 'failed', reason: 'given_up' }],
      tasks: [{ kind: 'amount_mismatch', closed_note: 'The charge was refunded.' }],
    })
    expect(await closeTask(lives.db, payment, { kind: 'amount_mismatch', note: '' }, after(1))).toEqual({
      done: 'no_such_task',
    })
  })
})

describe('nodes', () => {
  test('an account that is open on no node: a task, and it continues when the account is back', async () => {
    const one = await paidPayment()
    const nowhere = { ...one.node, clock: () => after(hours(1)) }
    const none = { ...nowhere.providerAccounts, findFor: () => undefined, opened: () => [], names: [] }
    const away = { ...nowhere, providerAccounts: none }
    const refund = await createRefund(
      { ...away, clock: () => noon },
      {
        merchant_id: one.payment.merchant_id,
        mode: 'test',
        payment: { tx_reference: one.payment.tx_reference },
        refund_id: null,
        amount: 'left',
        source: 'payment',
        reason: '',
        by: { requested_by: 'operator', operator: 'Esi' },
      },
    )
    expect(refund).toEqual(created({ state: 'requested', kind: 'provider', sends: 0 }))
    const watch = createOverdueWatch(away)
    await watch.look()
    await watch.look()
    expect((await one.stored()).tasks).toMatchObject([{ kind: 'not_set_up' }])
    one.setNow(after(hours(1)))
    await one.poll()
    expect((await one.stored()).refunds).toMatchObject([{ state: 'succeeded' }])
  })

  test('two nodes that poll at once send a refund once', async () => {
    const one = await paidPayment({ isIdempotent: false })
    one.script.refund = async () => ({ state: 'not_sent', words: '' })
    await one.ask()
    const [refund] = (await one.stored()).refunds as [Refund]
    one.script.refund = async order => madeReply(order, one.make(order).id)
    await Promise.all([...one.nodes, ...one.nodes].map(node => callRefund(node, refund)))
    expect(one.made).toHaveLength(1)
    expect((await one.stored()).refunds).toMatchObject([{ state: 'succeeded', sends: 2 }])
  })

  test('a provider that does not answer fills its own slots, and refunds of another are sent', async () => {
    const fast = await paidPayment()
    const slow = refundingProvider()
    slow.script.refund = () => new Promise(() => {})
    fast.script.refund = async () => ({ state: 'not_sent', words: '' })
    for (let at = 0; at < 13; at++) await fast.ask({ refund_id: `n${at}`, amount: 100n })
    const { refunds } = await fast.stored()
    const slowOnes = refunds.slice(0, 12).map(({ refund_reference }) => refund_reference)
    await lives.db.rows(sql`
      update refunds set provider_account = 'slow' where refund_reference = any(${slowOnes})`)
    fast.script.refund = async order => madeReply(order, 'R-1')
    const account = (one: typeof slow.account): ProviderAccount => ({
      ...terms,
      mode: 'test',
      methods: [simulatedMethod],
      ...one,
    })
    const accounts = fixedAccounts(
      new Map([
        ['slow', account(slow.account)],
        ['simulated', account(fast.account)],
      ]),
      () => () => {},
    )
    const node = { ...fast.node, providerAccounts: accounts, clock: () => after(minutes(1)) }
    const { step } = createRefundPollers(node, { onTrouble: noTrouble, wake() {} })
    await step()
    await step()
    const isDone = async () =>
      (await fast.stored()).refunds.filter(({ state }) => state === 'succeeded').length
    await vi.waitFor(async () => expect(await isDone()).toBe(1))
    await vi.waitFor(() => expect(slow.posts).toHaveLength(10))
  })
})
