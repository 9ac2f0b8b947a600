import { afterAll, beforeAll, expect, test } from 'vitest'
import { pay } from '../../../src/actions/payments/pay.ts'
import { createRefund } from '../../../src/actions/refunds/createRefund.ts'
import {
  listApprovalsOfPayment,
  listEndedApprovals,
  listWaitingApprovals,
} from '../../../src/actions/refunds/listApprovals.ts'
import {
  type ApprovalUser,
  approveRefund,
  rejectRefund,
  requestRefundApproval,
} from '../../../src/actions/refunds/refundApprovals.ts'
import { everyCurrency } from '../../../src/core/merchant/totalLimit.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { refundRules } from '../../../src/core/refund/approval.ts'
import { newRefundReference } from '../../../src/runtime/ids.ts'
import { addUser, saveMembership } from '../../../src/store/access/users.ts'
import { type Db, openDb, sql } from '../../../src/store/db.ts'
import { refundsOfPayment } from '../../../src/store/refunds/merchantRefunds.ts'
import { openPaymentDatabase, type PaymentDatabase } from '../../support/payments/paymentDatabase.ts'
import { refundingProvider } from '../../support/payments/refundingProvider.ts'
import { after, hours, noon } from '../../support/payments/rows.ts'
import { aPayRequest, simulatedNode } from '../../support/payments/simulatedNode.ts'

let lives: PaymentDatabase
let other: Db
const [ama, kofi, esi] = ['ama', 'kofi', 'esi'].map(
  (user_id): ApprovalUser => ({
    user_id,
    name: `User ${user_id}`,
    actor: { kind: 'user', id: user_id, address: '127.0.0.1' },
  }),
) as [ApprovalUser, ApprovalUser, ApprovalUser]

beforeAll(async () => {
  lives = await openPaymentDatabase(10)
  other = openDb(lives.url, 10)
  for (const { user_id, name } of [ama, kofi, esi]) {
    const account = {
      lang: 'en',
      password_hash: null,
      operator_role: null,
      sealed_totp: null,
      totp_step: null,
    }
    const email = `${user_id}@example.com`
    await addUser(lives.db, {
      ...account,
      user_id,
      name,
      email,
      active: true,
      created_at: noon,
      signed_in_at: null,
    })
    const role = user_id === 'ama' ? 'owner' : 'accountant'
    await saveMembership(lives.db, {
      merchant_id: lives.merchant_id,
      user_id,
      role,
      outlets: null,
      created_at: noon,
    })
  }
})
afterAll(async () => {
  await other.end()
  await lives.close()
})

let payers = 0

// A paid payment of 25.00 on two nodes, with a refund of all of it that waits for approval.
async function askedFor() {
  const { account } = refundingProvider()
  const [payment] = (await lives.addPayments(1, noon)) as [Payment]
  const nodes = [lives.db, other].map(db => simulatedNode(db, () => noon, account)) as [
    ReturnType<typeof simulatedNode>,
    ReturnType<typeof simulatedNode>,
  ]
  const [node] = nodes
  payers++
  await pay(
    node,
    payment,
    aPayRequest({ address: `203.0.113.${payers}`, input: { phone: `024${4_000_000 + payers}` } }),
  )
  const { merchant_id, tx_reference } = payment
  const key = { merchant_id, refund_reference: newRefundReference(merchant_id) }
  const ask = (amount: bigint | 'left' = 'left') =>
    requestRefundApproval(
      node,
      {
        ...key,
        mode: payment.mode,
        payment: { tx_reference },
        amount,
        source: 'payment',
        reason: 'Broken.',
        requested_by: 'merchant',
      },
      kofi,
      noon,
    )
  return { payment, nodes, node, key, ask, refunds: () => refundsOfPayment(lives.db, payment) }
}

const auditOf = async (subject: string) =>
  (
    await lives.db.rows<{ action: string; actor_id: string; requester: string }>(
      sql`select action, actor_id, after->>'requester' as requester from audit_entries
        where subject = ${subject} order by entry_id`,
    )
  ).map(({ action, actor_id, requester }) => `${action} by ${actor_id} for ${requester}`)

const mails = async () =>
  (
    await lives.db.rows<{ details: { by: string; change: string }; email: string }>(
      sql`select * from user_mails`,
    )
  ).map(({ email, details }) => `${email}: ${details.change} by ${details.by}`)

test('a refund above the limit is asked for by one person and made by the approval of another', async () => {
  const { payment, node, key, ask, refunds } = await askedFor()
  expect(await ask()).toMatchObject({ done: 'waiting', approval: { amount: 2500n, requester_id: 'kofi' } })
  expect(await ask()).toMatchObject({ done: 'repeated' }) // the same form
  expect(await refunds()).toEqual([])
  expect(await listWaitingApprovals(lives.db, payment, noon)).toMatchObject([
    { ...key, requester_name: 'User kofi', invoice_id: payment.invoice_id },
  ])
  expect(await listWaitingApprovals(lives.db, 'all', noon)).toHaveLength(1)

  expect(await approveRefund(node, key, kofi, noon)).toEqual({ fault: 'same_person' })
  expect(await refunds()).toEqual([])
  expect(await approveRefund(node, key, ama, noon)).toMatchObject({ done: 'approved' })
  expect(await approveRefund(node, key, ama, noon)).toMatchObject({ done: 'repeated' })
  expect(await refunds()).toMatchObject([{ ...key, amount: 2500n, reason: 'Broken.', sends: 1 }])
  expect(await listApprovalsOfPayment(lives.db, payment)).toMatchObject([
    { state: 'approved', requester_name: 'User kofi', decider_name: 'User ama' },
  ])
  expect(await listWaitingApprovals(lives.db, payment, noon)).toEqual([])
  expect(await auditOf(key.refund_reference)).toEqual([
    'refund.request_approval by kofi for kofi',
    'refund.approve by ama for kofi',
  ])
  expect((await mails()).sort()).toEqual([
    'ama@example.com: refund by User ama',
    'ama@example.com: refund by User kofi',
  ])
})

test('two approvers at the same time, on two nodes, make one refund', async () => {
  const { nodes, key, ask, refunds } = await askedFor()
  await ask()
  const results = await Promise.all([
    approveRefund(nodes[0], key, ama, noon),
    approveRefund(nodes[1], key, esi, noon),
    approveRefund(nodes[1], key, ama, noon),
  ])
  expect(results.map(result => ('done' in result ? result.done : result.fault)).sort()).toEqual([
    'approved',
    'repeated',
    'repeated',
  ])
  expect(await refunds()).toHaveLength(1)
  expect(await auditOf(key.refund_reference)).toHaveLength(2)
})

test('approving and rejecting at the same time: one of them is done', async () => {
  const { nodes, key, ask, refunds } = await askedFor()
  await ask()
  const [approved, rejected] = await Promise.all([
    approveRefund(nodes[0], key, ama, noon),
    rejectRefund(nodes[1], key, 'No.', esi, noon),
  ])
  expect('done' in approved).toBe(!('done' in rejected))
  expect(await refunds()).toHaveLength('done' in approved ? 1 : 0)
})

test('the ceiling is checked again with the approval, which stays waiting', async () => {
  const { payment, node, key, ask, refunds } = await askedFor()
  const { merchant_id, mode, tx_reference } = payment
  await ask()
  const by = { requested_by: 'merchant' } as const
  const first = { merchant_id, mode, payment: { tx_reference }, refund_id: 'R-1', reason: '', by }
  await createRefund(node, { ...first, amount: 100n, source: 'payment' })
  expect(await approveRefund(node, key, ama, noon)).toEqual({ fault: 'more_than_left', left: 2400n })
  expect(await listApprovalsOfPayment(lives.db, payment)).toMatchObject([
    { state: 'waiting', decider_id: null },
  ])
  expect(await refunds()).toHaveLength(1)
  expect(await rejectRefund(node, key, 'Ask for less.', kofi, noon)).toMatchObject({
    done: 'rejected', // who asked takes it back
    approval: { decision_reason: 'Ask for less.' },
  })
  expect(await approveRefund(node, key, ama, noon)).toEqual({ fault: 'ended', state: 'rejected' })
})

test('more than is left is not asked for, and an old one is not approved', async () => {
  const { payment, node, key, ask } = await askedFor()
  expect(await ask(2501n)).toEqual({ fault: 'more_than_left', left: 2500n })
  expect(await listApprovalsOfPayment(lives.db, payment)).toEqual([])
  await ask()
  const late = after(hours(8 * 24))
  expect(await approveRefund(node, key, ama, late)).toEqual({ fault: 'ended', state: 'expired' })
  expect(await rejectRefund(node, key, 'Late.', ama, late)).toEqual({ fault: 'ended', state: 'expired' })
  expect((await listEndedApprovals(lives.db, payment, late, 1)).map(one => one.refund_reference)).toEqual([
    key.refund_reference,
  ])
  expect(await listWaitingApprovals(lives.db, payment, late)).toEqual([])
})

for (const [limit, amount, currency, earlier, needsApproval] of [
  [null, 99_999_999n, 'GHS', [], false],
  [50_00n, 50_00n, 'GHS', [], false],
  [50_00n, 50_01n, 'GHS', [], true],
  [50_00n, 51n, 'XOF', [], true],
  [50_00n, 20_00n, 'GHS', [{ amount: 30_00n, state: 'succeeded' }], false],
  [50_00n, 20_01n, 'GHS', [{ amount: 30_00n, state: 'succeeded' }], true],
  [50_00n, 20_01n, 'GHS', [{ amount: 30_00n, state: 'unknown' }], true],
  [50_00n, 20_01n, 'GHS', [{ amount: 30_00n, state: 'failed' }], false],
] as const)
  test(`${currency} ${amount} after ${earlier.length} ${earlier[0]?.state ?? ''} refunds with the limit ${limit} needs a second person: ${needsApproval}`, () => {
    const limits = {
      refund_confirm_above: null,
      refund_approval_above: limit === null ? null : everyCurrency(limit),
    }
    const rules = refundRules(limits, { amount, currency, earlier })
    expect(rules).toEqual({ needsConfirmation: false, needsApproval })
  })
