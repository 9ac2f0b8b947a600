import { afterAll, beforeAll, expect, test } from 'vitest'
import { pollAttempt } from '../../src/actions/payments/callProvider.ts'
import { closeTask } from '../../src/actions/payments/closeTask.ts'
import { pay } from '../../src/actions/payments/pay.ts'
import { handleWebhook } from '../../src/actions/providers/handleWebhook.ts'
import { pollDue } from '../../src/actions/providers/pollDue.ts'
import type { Attempt } from '../../src/core/payment/attempt.ts'
import type { Payment } from '../../src/core/payment/payment.ts'
import type { Order } from '../../src/core/provider/order.ts'
import type { ProviderAccount } from '../../src/core/provider/provider.ts'
import type { Dispute, Reply, Reversal } from '../../src/core/provider/reply.ts'
import type { Webhook, WebhookUpdate } from '../../src/core/provider/webhook.ts'
import { webhookIdOf } from '../../src/runtime/providers/accounts.ts'
import { sql } from '../../src/store/db.ts'
import { type PaymentDatabase, openPaymentDatabase } from '../support/payments/paymentDatabase.ts'
import { aPayRequest, simulatedNode } from '../support/payments/simulatedNode.ts'
import { after, hours, noon, pending, yes } from '../support/payments/rows.ts'

// What a provider sends to the address of an account makes us ask; what else it says counts only where the contract says so.
let lives: PaymentDatabase
beforeAll(async () => {
  lives = await openPaymentDatabase()
})
afterAll(() => lives.close())

const webhook: Webhook = { path: '', headers: {}, body: Buffer.from('{}'), address: '192.0.2.1' }
const ours = webhookIdOf('simulated')
let people = 0

async function journey(providerAccount: Partial<ProviderAccount> = {}, said: () => unknown = () => []) {
  const [payment] = (await lives.addPayments(1, noon)) as [Payment]
  const node = simulatedNode(lives.db, () => noon, {
    start: async () => pending,
    check: async () => yes,
    handleWebhook: said as ProviderAccount['handleWebhook'],
    ...providerAccount,
  })
  await pay(
    node,
    payment,
    aPayRequest({ address: `203.0.113.${++people}`, input: { phone: `024${3_000_000 + people}` } }),
  )
  const life = async () => {
    const [stored] = await lives.read([payment.tx_reference])
    const [attempt] = stored?.attempts ?? []
    if (!stored || !attempt) throw new Error('no attempt')
    return { ...stored, attempt }
  }
  const tell = (news: readonly WebhookUpdate[] | undefined) => {
    const deps = simulatedNode(lives.db, () => noon, {
      start: async () => pending,
      check: async () => yes,
      handleWebhook: () => news,
    })
    return handleWebhook(deps, ours, webhook)
  }
  return { payment, node, life, tell }
}

const isDue = ({ next_poll_at }: Attempt) => next_poll_at !== null && next_poll_at <= noon

test('it makes us ask, by the name of the attempt or by the key of the provider', async () => {
  const plain = await journey()
  expect(await plain.tell([{ idempotency_key: (await plain.life()).attempt.attempt_id }])).toEqual({
    outcome: 'accepted',
    account: 'simulated',
  })
  const keyed = await journey({ newIdempotencyKey: id => `order:${id.slice(-12)}` })
  const { idempotency_key } = (await keyed.life()).attempt
  expect(idempotency_key).toMatch(/^order:/)
  await keyed.tell([{ idempotency_key: idempotency_key ?? '' }])
  for (const one of [plain, keyed]) {
    const { attempt, payment } = await one.life()
    expect(isDue(attempt)).toBe(true)
    expect(payment.status).toBe('awaiting_payment') // a webhook never says paid
  }
})

for (const [name, said] of [
  ['is not the provider’s', () => undefined],
  ['cannot be read', () => JSON.parse('<html>') as unknown],
  ['is nothing that a provider may say', () => 'paid'],
] as const)
  test(`one that ${name} is forged, and nothing is asked`, async () => {
    const { node, life } = await journey({}, said)
    expect(await handleWebhook(node, ours, webhook)).toEqual({ outcome: 'forged', account: 'simulated' })
    expect(isDue((await life()).attempt)).toBe(false)
  })

test('no account of that address, or one that hears nothing', async () => {
  const { node } = await journey({ handleWebhook: undefined })
  expect(await handleWebhook(node, webhookIdOf('other'), webhook)).toEqual({ outcome: 'no_such_account' })
  expect(await handleWebhook(node, ours, webhook)).toEqual({ outcome: 'no_such_account' })
})

test('strange keys and orders that nobody has are passed over', async () => {
  const { tell } = await journey()
  const news = [
    { idempotency_key: '' },
    { idempotency_key: 'a\u0000b' },
    { idempotency_key: 'x'.repeat(500) },
    { idempotency_key: 'nobody' },
    { idempotency_key: 'z'.repeat(36) },
  ]
  expect(await tell([...news, null, 7] as WebhookUpdate[])).toEqual({
    outcome: 'accepted',
    account: 'simulated',
  })
})

test('an id that no answer has is learnt, and never instead of one that we have', async () => {
  const { tell, life } = await journey()
  const key = (await life()).attempt.attempt_id
  await tell([{ idempotency_key: key, provider_ref: 'RECEIPT1' }])
  await tell([{ idempotency_key: key, provider_ref: 'RECEIPT2' }])
  expect((await life()).attempt.provider_ref).toBe('RECEIPT1')
})

// A provider that has refunds and disputes of the charge, told to whoever asks for them.
function chargeWith() {
  const has: { reversals: Reversal[]; disputes: Dispute[] } = { reversals: [], disputes: [] }
  const asked: [attempt_id: string, check_reversals: boolean][] = []
  const check = async ({ attempt_id, check_reversals }: Order): Promise<Reply> => {
    asked.push([attempt_id, check_reversals])
    return check_reversals ? { ...yes, reversals: [...has.reversals], disputes: [...has.disputes] } : yes
  }
  return { has, asked, check }
}

const feedOf = async ({ tx_reference }: Payment) =>
  lives.db.rows<{ type: string; status: string; body: string }>(sql`
    select type, status, body from notifications where tx_reference = ${tx_reference} order by sequence`)

test('refunds and disputes: the provider is asked, and each is recorded and told once with its own amount', async () => {
  const { has, asked, check } = chargeWith()
  const { tell, life, node, payment } = await journey({ check })
  await pollAttempt(node, (await life()).attempt)
  const { attempt } = await life()
  expect(attempt).toMatchObject({ state: 'paid', next_poll_at: null })
  const key = attempt.attempt_id
  const hearOf = async (times: number) => {
    for (let at = 0; at < times; at++) await tell([{ idempotency_key: key, check_reversals: true }])
    expect(isDue((await life()).attempt)).toBe(true) // committed before the webhook is answered
    await pollDue(node, error => expect(error).toBeUndefined())
  }
  has.reversals.push({ id: '7', amount: 1000n, words: 'Refund 7.' })
  await hearOf(3)
  has.reversals.push({ id: '8', amount: 500n, words: 'Refund 8.' })
  has.disputes.push({ id: 'D1', state: 'open', amount: 1000n, words: 'Answer before Friday.' })
  await hearOf(1)
  await hearOf(2)
  has.disputes[0] = { ...(has.disputes[0] as Dispute), state: 'won' }
  await hearOf(1)
  const own = asked.filter(([attempt_id]) => attempt_id === key)
  expect(own.map(([, checks]) => checks)).toEqual([false, true, true, true, true])
  const { payment: paid, tasks, events, reversals, disputes, attempt: last } = await life()
  expect(paid).toMatchObject({ status: 'paid', reversed_at: noon, reversed_amount: 1500n })
  expect(last.next_poll_at).toBeNull()
  expect(reversals.map(({ reversal_id, amount }) => [reversal_id, amount])).toEqual([
    ['7', 1000n],
    ['8', 500n],
  ])
  expect(disputes).toMatchObject([{ dispute_id: 'D1', state: 'won', amount: 1000n }])
  const byKind = Object.fromEntries(tasks.map(({ kind, ...one }) => [kind, one]))
  expect(byKind).toMatchObject({
    dispute_opened: { amount: 1000n, closed_note: 'The dispute was resolved.' },
    reversed: { amount: 1500n, closed_note: null },
  })
  expect(events.map(({ kind }) => kind).slice(-4)).toEqual([
    'reversed',
    'reversed',
    'dispute_opened',
    'dispute_won',
  ])
  const told = await feedOf(payment)
  expect(told.map(({ type, status }) => [type, status])).toEqual([
    ['status', 'paid'],
    ['reversed', 'paid'],
    ['reversed', 'paid'],
    ['dispute_opened', 'paid'],
    ['dispute_won', 'paid'],
  ])
  expect(told.slice(1, 3).map(({ body }) => (JSON.parse(body) as { amount: number }).amount)).toEqual([10, 5])
  const sent = await lives.db.rows(sql`select 1 from deliveries where tx_reference = ${payment.tx_reference}`)
  expect(sent.length).toBeLessThanOrEqual(1) // of the status alone
})

test('a charge that is first heard of as reversed never pays: the shop is told failed, and the payer may try again', async () => {
  const reversals = [{ id: '7', amount: 2500n, words: 'Refund 7.' }]
  const { life, node, payment } = await journey({ check: async () => ({ ...yes, reversals }) })
  await pollAttempt(node, (await life()).attempt)
  const { payment: failed, attempt, tasks } = await life()
  expect(failed).toMatchObject({ status: 'failed', paid_attempt_id: null, reversed_at: null })
  expect(attempt).toMatchObject({ state: 'failed', reason: 'reversed' })
  expect(tasks).toMatchObject([{ kind: 'reversed', amount: 2500n, closed_at: null }])
  expect((await feedOf(payment)).map(({ type, status }) => [type, status])).toEqual([['status', 'failed']])
  const again = await pay(node, failed, aPayRequest({ number: 2, address: '203.0.113.250' }))
  expect(again).toEqual({ done: 'started' })
})

test('a task that was closed is open again with the next refund', async () => {
  const { has, check } = chargeWith()
  const { tell, life, node, payment } = await journey({ check })
  await pollAttempt(node, (await life()).attempt)
  const key = (await life()).attempt.attempt_id
  const hearOf = async () => {
    await tell([{ idempotency_key: key, check_reversals: true }])
    await pollDue(node, error => expect(error).toBeUndefined())
  }
  has.reversals.push({ id: '1', amount: 100n, words: 'Refund 1.' })
  await hearOf()
  await closeTask(lives.db, payment, { kind: 'reversed', note: 'The shop knows.' }, noon)
  await hearOf() // nothing new
  expect((await life()).tasks).toMatchObject([{ kind: 'reversed', amount: 100n, closed_at: noon }])
  has.reversals.push({ id: '2', amount: 200n, words: 'Refund 2.' })
  await hearOf()
  expect((await life()).tasks).toMatchObject([
    { kind: 'reversed', amount: 300n, note: 'Refund 2.', closed_at: null },
  ])
})

test('a second dispute of the same amount opens the task again', async () => {
  const { has, check } = chargeWith()
  const { tell, life, node } = await journey({ check })
  await pollAttempt(node, (await life()).attempt)
  const key = (await life()).attempt.attempt_id
  const hearOf = async (...disputes: Dispute[]) => {
    has.disputes = disputes
    await tell([{ idempotency_key: key, check_reversals: true }])
    await pollDue(node, error => expect(error).toBeUndefined())
  }
  const first: Dispute = { id: 'D1', state: 'open', amount: 2500n, words: 'First.' }
  const won: Dispute = { ...first, state: 'won' }
  await hearOf(first)
  await hearOf(won)
  expect((await life()).tasks).toMatchObject([{ kind: 'dispute_opened', closed_at: noon }])
  await hearOf(won, { ...first, id: 'D2', words: 'Second.' })
  expect((await life()).tasks).toMatchObject([{ kind: 'dispute_opened', note: 'Second.', closed_at: null }])
})

test('a refund signed by another account changes nothing', async () => {
  const { life } = await journey()
  const { attempt } = await life()
  const other = {
    ...simulatedNode(lives.db, () => after(hours(1)), { start: async () => pending, check: async () => yes }),
  }
  const news = [{ idempotency_key: attempt.attempt_id, check_reversals: true }]
  const provider = { ...other.providerAccounts.find('simulated'), hear: () => news }
  const providers = {
    ...other.providerAccounts,
    findByWebhookId: () => ({ name: 'another', account: provider as never }),
  }
  await handleWebhook({ ...other, providerAccounts: providers }, 'any', webhook)
  expect((await life()).attempt.check_reversals).toBe(false)
})
