import { afterAll, beforeAll, expect, test } from 'vitest'
import { hearWebhook } from '../../src/actions/channels/hearWebhook.ts'
import { askAttempt } from '../../src/actions/payments/askProvider.ts'
import { pay } from '../../src/actions/payments/pay.ts'
import type { Channel } from '../../src/core/channel/channel.ts'
import type { OrderNews, Webhook } from '../../src/core/channel/webhook.ts'
import type { Attempt } from '../../src/core/payment/attempt.ts'
import type { Payment } from '../../src/core/payment/payment.ts'
import { webhookIdOf } from '../../src/runtime/channels/webhookId.ts'
import { sql } from '../../src/store/db.ts'
import { type Lives, openLives } from '../support/lifeDb.ts'
import { aWish, simulatedNode } from '../support/lifeNode.ts'
import { after, hours, noon, pending, yes } from '../support/lifeRows.ts'

// What a provider sends to the address of an account makes us ask; what else it says counts only where the contract says so.
let lives: Lives
beforeAll(async () => {
  lives = await openLives()
})
afterAll(() => lives.close())

const webhook: Webhook = { path: '', headers: {}, body: Buffer.from('{}'), address: '192.0.2.1' }
const ours = webhookIdOf('simulated')
let people = 0

async function journey(channel: Partial<Channel> = {}, said: () => unknown = () => []) {
  const [payment] = (await lives.addPayments(1, noon)) as [Payment]
  const node = simulatedNode(lives.db, () => noon, {
    start: async () => pending,
    check: async () => yes,
    hear: said as Channel['hear'],
    ...channel,
  })
  await pay(
    node,
    payment,
    aWish({ address: `203.0.113.${++people}`, typed: { phone: `024${3_000_000 + people}` } }),
  )
  const life = async () => {
    const [stored] = await lives.read([payment.tx_reference])
    const [attempt] = stored?.attempts ?? []
    if (!stored || !attempt) throw new Error('no attempt')
    return { ...stored, attempt }
  }
  const tell = (news: readonly OrderNews[] | undefined) => {
    const deps = simulatedNode(lives.db, () => noon, {
      start: async () => pending,
      check: async () => yes,
      hear: () => news,
    })
    return hearWebhook(deps, ours, webhook)
  }
  return { payment, node, life, tell }
}

const isDue = ({ next_ask_at }: Attempt) => next_ask_at !== null && next_ask_at <= noon

test('it makes us ask, by the name of the attempt or by the key of the provider', async () => {
  const plain = await journey()
  expect(await plain.tell([{ key: (await plain.life()).attempt.attempt_id }])).toEqual({
    heard: 'heard',
    account: 'simulated',
  })
  const keyed = await journey({ newKey: id => `order:${id.slice(-12)}` })
  const { order_key } = (await keyed.life()).attempt
  expect(order_key).toMatch(/^order:/)
  await keyed.tell([{ key: order_key ?? '' }])
  for (const one of [plain, keyed]) {
    const { attempt, payment } = await one.life()
    expect(isDue(attempt)).toBe(true)
    expect(payment.status).toBe('awaiting_payment') // a webhook never says paid
  }
})

for (const [name, said] of [
  ['is not the provider’s', () => undefined],
  ['cannot be read', () => JSON.parse('<html>') as unknown],
  ['is nothing that a channel may say', () => 'paid'],
] as const)
  test(`one that ${name} is forged, and nothing is asked`, async () => {
    const { node, life } = await journey({}, said)
    expect(await hearWebhook(node, ours, webhook)).toEqual({ heard: 'forged', account: 'simulated' })
    expect(isDue((await life()).attempt)).toBe(false)
  })

test('no account of that address, or one that hears nothing', async () => {
  const { node } = await journey({ hear: undefined })
  expect(await hearWebhook(node, webhookIdOf('other'), webhook)).toEqual({ heard: 'no_such_account' })
  expect(await hearWebhook(node, ours, webhook)).toEqual({ heard: 'no_such_account' })
})

test('strange keys and orders that nobody has are passed over', async () => {
  const { tell } = await journey()
  const news = [
    { key: '' },
    { key: 'a\u0000b' },
    { key: 'x'.repeat(500) },
    { key: 'nobody' },
    { key: 'z'.repeat(36) },
  ]
  expect(await tell([...news, null, 7] as OrderNews[])).toEqual({ heard: 'heard', account: 'simulated' })
})

test('an id that no answer has is learnt, and never instead of one that we have', async () => {
  const { tell, life } = await journey()
  const key = (await life()).attempt.attempt_id
  await tell([{ key, provider_ref: 'RECEIPT1' }])
  await tell([{ key, provider_ref: 'RECEIPT2' }])
  expect((await life()).attempt.provider_ref).toBe('RECEIPT1')
})

test('money that went back: a mark, a task, an event and an entry of the feed, once for each kind', async () => {
  const { tell, life, node, payment } = await journey()
  const before = await life()
  await askAttempt(node, before.attempt)
  const key = before.attempt.attempt_id
  const reversal = { kind: 'reversed', words: 'Refund 7 of the provider.' } as const
  const dispute = { kind: 'charged_back', words: 'Dispute 8.' } as const
  for (const told of [reversal, reversal, dispute, reversal]) await tell([{ key, reversal: told }])
  const { payment: paid, tasks, events } = await life()
  expect(paid).toMatchObject({ status: 'paid', reversed_at: noon })
  expect(
    tasks
      .map(({ kind, amount, note }) => [kind, amount, note])
      .toSorted(([a = ''], [b = '']) => String(a).localeCompare(String(b))),
  ).toEqual([
    ['charged_back', 2500n, 'Dispute 8.'],
    ['reversed', 2500n, 'Refund 7 of the provider.'],
  ])
  expect(events.map(({ kind }) => kind).slice(-2)).toEqual(['reversed', 'charged_back'])
  const told = await lives.db.rows<{ type: string; status: string; body: string }>(sql`
    select type, status, body from notifications where tx_reference = ${payment.tx_reference} order by sequence`)
  expect(told.map(({ type, status }) => [type, status])).toEqual([
    ['status', 'paid'],
    ['reversed', 'paid'],
    ['charged_back', 'paid'],
  ])
  expect(JSON.parse(told[1]?.body ?? '')).toMatchObject({ type: 'reversed', amount: 25, currency: 'GHS' })
  const sent = await lives.db.rows(sql`select 1 from deliveries where tx_reference = ${payment.tx_reference}`)
  expect(sent.length).toBeLessThanOrEqual(1) // of the status alone
})

test('a reversal signed by another account says nothing of ours', async () => {
  const { life } = await journey()
  const { attempt } = await life()
  const other = {
    ...simulatedNode(lives.db, () => after(hours(1)), { start: async () => pending, check: async () => yes }),
  }
  const reversal = { kind: 'reversed', words: 'Not yours.' } as const
  const channel = { ...other.channels.find('simulated'), hear: () => [{ key: attempt.attempt_id, reversal }] }
  const channels = {
    ...other.channels,
    findByWebhook: () => ({ name: 'another', channel: channel as never }),
  }
  await hearWebhook({ ...other, channels }, 'any', webhook)
  expect((await life()).tasks).toEqual([])
})
