import { afterAll, beforeAll, expect, test } from 'vitest'
import { pollDue } from '../../src/actions/providers/pollDue.ts'
import { pollAttempt } from '../../src/actions/payments/callProvider.ts'
import { giveUp } from '../../src/actions/payments/giveUp.ts'
import { pay } from '../../src/actions/payments/pay.ts'
import type { ProviderAccount } from '../../src/core/provider/provider.ts'
import type { Reply } from '../../src/core/provider/reply.ts'
import type { Attempt } from '../../src/core/payment/attempt.ts'
import type { Payment } from '../../src/core/payment/payment.ts'
import { type Db, openDb } from '../../src/store/db.ts'
import { type PaymentDatabase, openPaymentDatabase } from '../support/payments/paymentDatabase.ts'
import { aPayRequest, simulatedNode } from '../support/payments/simulatedNode.ts'
import {
  absent,
  after,
  minutes,
  noon,
  pending,
  seconds,
  unclear,
  withdrawn,
  yes,
} from '../support/payments/rows.ts'

// A customer goes on without the request that is on its way, when its provider has ended it and not before.
let lives: PaymentDatabase
let other: Db
beforeAll(async () => {
  lives = await openPaymentDatabase()
  other = openDb(lives.url, 4)
})
afterAll(async () => {
  await other.end()
  await lives.close()
})

const fail = (error: unknown) => expect(error).toBeUndefined()
const wish = { number: 1, gave_up_for: 'number' } as const
let people = 0

type Line = { start?: Reply; check?: Reply; giveUp?: Reply }

// One payment whose first attempt is started, at a provider that says so; `says` is changed by the test.
async function journey(says: Line) {
  const [payment] = (await lives.addPayments(1, noon)) as [Payment]
  const asked: string[] = []
  let now = noon
  const answer = (verb: keyof Line) => async () => {
    asked.push(verb)
    return Promise.resolve(says[verb] ?? pending)
  }
  const node = (db = lives.db, more: Partial<ProviderAccount> = {}) =>
    simulatedNode(db, () => now, {
      start: answer('start'),
      check: answer('check'),
      ...(says.giveUp && { giveUp: answer('giveUp') }),
      ...more,
    })
  const begin = (number: number) =>
    pay(
      node(),
      payment,
      aPayRequest({ number, address: `192.0.2.${++people}`, input: { phone: `024${1_000_000 + people}` } }),
    )
  const life = async () => {
    const [stored] = await lives.read([payment.tx_reference])
    if (!stored) throw new Error('no life')
    return { ...stored, kinds: stored.events.map(({ kind }) => kind) }
  }
  async function live(ms: number) {
    for (const end = after(ms, now); now < end; ) {
      now = after(seconds(1), now)
      await pollDue(node(), fail)
    }
  }
  await begin(1)
  return { payment, says, asked, node, begin, life, live, wait: (ms: number) => (now = after(ms, now)) }
}

test('the provider withdraws it: nothing was said to the shop, and the next one starts', async () => {
  const { payment, node, begin, life } = await journey({ giveUp: withdrawn })
  await giveUp(node(), payment, wish)
  expect(await begin(2)).toEqual({ done: 'started' })
  const { attempts, kinds, payment: stored } = await life()
  expect(stored.status).toBe('awaiting_payment')
  expect(attempts).toMatchObject([
    { state: 'failed', reason: 'withdrawn', gave_up_for: 'number' },
    { state: 'pending', gave_up_at: null },
  ])
  expect(kinds).not.toContain('status_changed')
})

for (const [what, says] of [
  ['cannot withdraw', {}],
  ['has no time for that', { giveUp: pending }],
  ['says nothing clear', { giveUp: unclear }],
  ['does not know it yet', { start: unclear, giveUp: absent }],
] as const)
  test(`a provider that ${what}: nothing else starts until it has said no`, async () => {
    const { payment, says: line, node, begin, life, live } = await journey({ ...says })
    await giveUp(node(), payment, wish)
    expect(await begin(2)).toMatchObject({ done: 'refused', obstacle: 'unresolved' })
    await live(seconds(20))
    expect((await life()).attempts).toHaveLength(1)
    Object.assign(line, { check: withdrawn, ...('giveUp' in says && { giveUp: withdrawn }) })
    await live(seconds(20))
    expect(await begin(2)).toEqual({ done: 'started' })
  })

test('a yes that comes after all is paid', async () => {
  const { payment, says, node, life, live } = await journey({ giveUp: pending })
  await giveUp(node(), payment, wish)
  says.giveUp = yes
  await live(seconds(20))
  expect((await life()).payment).toMatchObject({ status: 'paid', late: false })
})

test('fifty clicks on two nodes: one wish, one question', async () => {
  const { payment, node, asked, life } = await journey({ giveUp: pending })
  await Promise.all(
    Array.from({ length: 50 }, (_, at) => giveUp(node(at % 2 ? other : lives.db), payment, wish)),
  )
  expect(asked.filter(verb => verb === 'giveUp')).toHaveLength(1)
  expect((await life()).kinds.filter(kind => kind === 'attempt_given_up')).toHaveLength(1)
})

test('who dies after the wish is stored: the next who asks asks for the same', async () => {
  const { payment, node, asked, life, live } = await journey({ giveUp: withdrawn })
  const dead = node(lives.db, { giveUp: () => new Promise(() => {}) })
  void giveUp(dead, payment, wish)
  await expect.poll(async () => (await life()).kinds.includes('attempt_given_up')).toBe(true)
  await live(seconds(10))
  expect(asked).toContain('giveUp')
  expect((await life()).attempts).toMatchObject([{ state: 'failed', reason: 'withdrawn' }])
})

test('an answer to a question of before does not put it off', async () => {
  const waiting: ((reply: Reply) => void)[] = []
  const { payment, node, life, live, wait, says } = await journey({ giveUp: unclear })
  wait(minutes(2))
  const slow = node(lives.db, { check: () => new Promise(done => void waiting.push(done)) })
  const [attempt] = (await life()).attempts
  const asking = pollAttempt(slow, attempt as Attempt)
  await expect.poll(() => waiting.length).toBe(1)
  await giveUp(node(), payment, wish)
  const due = (await life()).attempts[0]?.next_poll_at
  for (const answer of waiting) answer(pending)
  await asking
  expect((await life()).attempts[0]?.next_poll_at).toEqual(due)
  says.giveUp = withdrawn
  await live(seconds(10))
  expect((await life()).attempts[0]?.state).toBe('failed')
})

test('where nobody can withdraw, it is asked about right when the request is over', async () => {
  const { payment, says, node, life, live, wait } = await journey({})
  wait(minutes(4))
  await pollDue(node(), fail)
  await giveUp(node(), payment, wish)
  await live(minutes(1) - seconds(1))
  says.check = { state: 'failed', reason: 'no_answer' }
  await live(seconds(3))
  expect(await life()).toMatchObject({
    payment: { status: 'awaiting_payment' },
    attempts: [{ state: 'failed', reason: 'no_answer' }],
  })
})
