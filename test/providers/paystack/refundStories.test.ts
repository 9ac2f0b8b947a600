import assert from 'node:assert/strict'
import { expect, onTestFinished, test } from 'vitest'
import { guardAccount } from '../../../src/runtime/providers/guard.ts'
import type { RefundStory } from '../../simulators/paystack/moneyBack.ts'
import { openPaystack } from '../../simulators/paystack/paystack.ts'
import { bad } from '../../simulators/paystack/api.ts'
import { receiveWebhooks } from '../../simulators/paystack/webhookReceiver.ts'
import { refundOf } from '../refundOrder.ts'
import { accountAt, orderFor, secretKey } from './context.ts'

// Refunds at a Paystack that misbehaves.
async function open(story: RefundStory) {
  const received = await receiveWebhooks()
  const paystack = await openPaystack({ secretKey, webhookUrl: received.url })
  onTestFinished(async () => {
    await paystack.stop()
    await received.stop()
  })
  paystack.refundRule({ story })
  const account = guardAccount(accountAt(paystack.url))
  const { refunds } = account
  assert.ok(refunds)
  const order = orderFor('mtn_mobile_money')
  await account.start(order)
  paystack.approve(order)
  const paid = await account.check(order)
  assert.ok(paid.state === 'paid' && paid.provider_ref)
  const charge = { ...order, provider_ref: paid.provider_ref }
  const made = () => paystack.book().flatMap(one => one.refunds)
  return { paystack, account, refunds, charge, refund: refundOf(charge), made, received }
}

const lost = { lost: 'error', ends: 'never' } as const
const events = (webhooks: readonly { body: Buffer }[]) =>
  webhooks
    .map(({ body }) => (JSON.parse(body.toString()) as { event: string }).event)
    .filter(event => event.startsWith('refund.'))

for (const [name, trouble] of [
  ['accepted, then silent', 'cut'],
  ['refunded, then HTTP 500', 'error'],
  ['refunded, then a page', 'maintenance'],
] as const)
  test(`${name}: unknown, found by its note, and one refund`, async () => {
    const { refunds, refund, made } = await open({ lost: trouble })
    expect(await refunds.refund(refund)).toMatchObject({ state: 'unknown' })
    expect(await refunds.checkRefund(refund)).toMatchObject({ state: 'pending' })
    expect(await refunds.checkRefund(refund)).toMatchObject({ state: 'succeeded', amount: 2500n })
    expect(made()).toHaveLength(1)
  })

test('the request was lost on its way: absent, and never sent by a check', async () => {
  const { refunds, refund, made } = await open({ lost: 'cut', isMade: false })
  expect(await refunds.refund(refund)).toMatchObject({ state: 'unknown' })
  for (let times = 0; times < 3; times++)
    expect(await refunds.checkRefund(refund)).toEqual({ state: 'absent' })
  expect(made()).toEqual([])
})

test('the list is late: absent, then found', async () => {
  const { refunds, refund } = await open({ ...lost, hiddenReads: 2 })
  await refunds.refund(refund)
  expect(await refunds.checkRefund(refund)).toEqual({ state: 'absent' })
  expect(await refunds.checkRefund(refund)).toEqual({ state: 'absent' })
  expect(await refunds.checkRefund(refund)).toMatchObject({ state: 'pending' })
})

for (const note of ['hidden', 'default'] as const)
  test(`the list has a ${note} note: unknown, never succeeded`, async () => {
    const { refunds, refund, made } = await open({ lost: 'error', note, first: 'processed' })
    await refunds.refund(refund)
    expect(await refunds.checkRefund(refund)).toMatchObject({ state: 'unknown' })
    const provider_ref = String(made()[0]?.id)
    expect(await refunds.checkRefund({ ...refund, provider_ref })).toMatchObject({ state: 'succeeded' })
  })

test('refunded twice: another amount than requested, and in the charge one of them is a reversal', async () => {
  const { account, refunds, refund, charge } = await open({
    ...lost,
    times: 2,
    first: 'processed',
    amount: 1000,
  })
  const part = { ...refund, amount: 1000n }
  await refunds.refund(part)
  expect(await refunds.checkRefund(part)).toMatchObject({
    state: 'other_refund',
    words: expect.stringContaining('2000'),
  })
  const reply = await account.check({ ...charge, check_reversals: true })
  assert.ok(reply.state === 'paid')
  const [first, second] = reply.reversals ?? []
  expect(first).toMatchObject({ amount: 1000n, refund_reference: part.refund_reference })
  expect(second).toMatchObject({ amount: 1000n })
  expect(second).not.toHaveProperty('refund_reference')
})

test('another amount is refunded: never succeeded', async () => {
  const { refunds, refund } = await open({ amount: 2000 })
  const reply = await refunds.refund(refund)
  assert.ok(reply.state === 'pending')
  const sent = { ...refund, provider_ref: reply.provider_ref ?? null }
  await refunds.checkRefund(sent)
  expect(await refunds.checkRefund(sent)).toMatchObject({ state: 'other_refund' })
})

test('needs attention: the operator has to act; then it may succeed', async () => {
  const { refunds, refund } = await open({ first: 'needs-attention' })
  expect(await refunds.refund(refund)).toMatchObject({
    state: 'needs_action',
    words: expect.stringContaining('dashboard of Paystack'),
  })
  await refunds.checkRefund(refund)
  expect(await refunds.checkRefund(refund)).toMatchObject({ state: 'succeeded' })
})

test('too little balance: refused, with what to do', async () => {
  const { refunds, refund, made } = await open({ refuses: bad(400, 'Insufficient balance for this refund') })
  expect(await refunds.refund(refund)).toMatchObject({
    state: 'failed',
    isRefused: true,
    words: expect.stringContaining('Top up the balance'),
  })
  expect(made()).toEqual([])
})

test('webhooks before the answer and out of order prompt questions about the charge', async () => {
  const { account, refunds, refund, charge, received } = await open({ lost: 'cut', isStale: true })
  await refunds.refund(refund)
  expect(events(received.webhooks)).toEqual(['refund.pending'])
  for (let times = 0; times < 2; times++) await refunds.checkRefund(refund)
  expect(events(received.webhooks)).toEqual(['refund.pending', 'refund.processed', 'refund.pending'])
  for (const webhook of received.webhooks.slice(-3))
    expect(account.handleWebhook?.(webhook)).toEqual([
      { idempotency_key: charge.idempotency_key, check_reversals: true },
    ])
  const reply = await account.check({ ...charge, check_reversals: true })
  expect(reply).toMatchObject({ reversals: [{ refund_reference: refund.refund_reference, amount: 2500n }] })
})

test('a refund of the dashboard is a reversal, beside ours', async () => {
  const { account, refunds, refund, charge, paystack } = await open({ first: 'processed' })
  await refunds.refund({ ...refund, amount: 1000n })
  await paystack.refund({ idempotency_key: charge.idempotency_key, amount: 500 })
  const reply = await account.check({ ...charge, check_reversals: true })
  assert.ok(reply.state === 'paid')
  expect(reply.reversals?.map(({ amount, refund_reference }) => [amount, refund_reference])).toEqual([
    [1000n, refund.refund_reference],
    [500n, undefined],
  ])
})
