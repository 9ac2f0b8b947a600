import { EventEmitter, once } from 'node:events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pollDue } from '../../src/actions/providers/pollDue.ts'
import { pollAttempt } from '../../src/actions/payments/callProvider.ts'
import { pay } from '../../src/actions/payments/pay.ts'
import type { ProviderAccount } from '../../src/core/provider/provider.ts'
import { NotSent, type Reply } from '../../src/core/provider/reply.ts'
import type { Attempt } from '../../src/core/payment/attempt.ts'
import type { Payment } from '../../src/core/payment/payment.ts'
import { type PaymentDatabase, openPaymentDatabase } from '../support/payments/paymentDatabase.ts'
import { aPayRequest, simulatedNode, simulatedMethod } from '../support/payments/simulatedNode.ts'
import { absent, after, hours, minutes, no, noon, pending, seconds } from '../support/payments/rows.ts'

// An order goes to its provider once, and again only where that cannot charge anybody twice.
let lives: PaymentDatabase
beforeAll(async () => {
  lives = await openPaymentDatabase()
})
afterAll(() => lives.close())

const fail = (error: unknown) => expect(error).toBeUndefined()
const lost = () => Promise.reject(new Error('socket hang up'))
const refused = () => Promise.reject(new NotSent('connect ECONNREFUSED'))

let people = 0

// One payment at a provider that answers the nth start so, and every question by `check`.
async function journey(
  starts: (() => Promise<Reply>)[],
  check: () => Reply = () => absent,
  terms: Partial<ProviderAccount> = {},
) {
  const [payment] = (await lives.addPayments(1, noon, () => hours(9))) as [Payment]
  const sent: string[] = []
  let now = noon
  const start = ({ attempt_id }: { attempt_id: string }) => {
    const answer = starts[sent.push(attempt_id) - 1] ?? starts.at(-1)
    return answer ? answer() : lost()
  }
  const node = (more = terms) =>
    simulatedNode(lives.db, () => now, { start, check: () => Promise.resolve(check()), ...more })
  const wait = (ms: number) => (now = after(ms, now))
  const life = async () => {
    const [stored] = await lives.read([payment.tx_reference])
    if (!stored) throw new Error('no life')
    return { ...stored, attempt: stored.attempts.at(-1), kinds: stored.events.map(({ kind }) => kind) }
  }
  const address = `192.0.2.${++people}`
  const typed = { phone: `024${String(1_000_000 + people)}` }
  const begin = (number = 1) => pay(node(), payment, aPayRequest({ number, address, input: typed }))
  await begin()
  // Each node asks once and is gone, as after a restart.
  async function live(ms: number, step = seconds(1), more = terms) {
    for (const end = after(ms, now); now < end; ) {
      now = after(step, now)
      await pollDue(node(more), fail)
    }
  }
  return { sent, life, live, begin, node, wait }
}

const yesSaid = () => Promise.resolve(pending)

test('an order that the provider has acknowledged is never sent again, however its reads lag', async () => {
  const { sent, live, life } = await journey([yesSaid])
  await live(minutes(1))
  expect(sent).toHaveLength(1)
  await live(minutes(20), minutes(1))
  expect(sent).toHaveLength(1)
  expect(await life()).toMatchObject({
    attempt: { state: 'pending' },
    payment: { status: 'awaiting_payment' },
  })
})

test('what the provider took and answered in words that nobody knows was acknowledged, too', async () => {
  const said: Reply = { state: 'unknown', words: 'HTTP 202, no way on', acknowledged: true }
  const { sent, live, life } = await journey([() => Promise.resolve(said)])
  await live(minutes(1))
  await live(hours(1), minutes(5))
  expect(sent).toHaveLength(1)
  expect(await life()).toMatchObject({
    attempt: { state: 'unknown' },
    payment: { status: 'awaiting_payment' },
  })
})

test('a contradiction is for a person after the usual time, and never failed', async () => {
  const { live, life } = await journey([yesSaid])
  await live(hours(25), hours(1))
  const { payment, attempt, tasks } = await life()
  expect([payment.status, attempt?.state]).toEqual(['awaiting_payment', 'pending'])
  expect(tasks.map(({ kind }) => kind)).toEqual(['unresolved'])
})

test('never acknowledged, and starting it twice is harmless: sent again once, whoever restarts', async () => {
  const { sent, live, life } = await journey([lost], undefined, { startIsIdempotent: true })
  await live(minutes(2))
  expect(sent).toHaveLength(2)
  expect(new Set(sent).size).toBe(1)
  const { attempt, kinds } = await life()
  expect(attempt).toMatchObject({ state: 'unknown', sends: 2 })
  expect(kinds.filter(kind => kind === 'attempt_resent')).toHaveLength(1)
})

test('never acknowledged, and a second start might charge twice: it is not sent again', async () => {
  const { sent, live, life } = await journey([lost], undefined, { startIsIdempotent: false })
  await live(minutes(2))
  expect(sent).toHaveLength(1)
  expect(await life()).toMatchObject({ attempt: { state: 'unknown' } })
})

for (const [what, first, terms, count] of [
  ['an order that was never acknowledged', lost, { startIsIdempotent: true }, 2],
  ['what had not left', refused, { startIsIdempotent: false }, 2],
] as const)
  test(`ten nodes want to send ${what} again at once: one does`, async () => {
    const { sent, life, node, wait } = await journey([first, yesSaid], undefined, terms)
    wait(seconds(9))
    const { attempt } = await life()
    await Promise.all(Array.from({ length: 10 }, () => pollAttempt(node(), attempt as Attempt)))
    expect(sent).toHaveLength(count)
    expect((await life()).attempt).toMatchObject({ state: 'pending', sends: 2 })
  })

for (const [what, first] of [
  ['an order that was never acknowledged', lost],
  ['what had not left', refused],
] as const)
  test(`who dies while ${what} is sent again has used that up: it may have arrived`, async () => {
    const line = new EventEmitter()
    const sending = once(line, 'sending')
    const dies = () => (line.emit('sending'), new Promise<never>(() => {}))
    const { sent, life, live, node, wait } = await journey([first, dies])
    wait(seconds(9))
    void pollAttempt(node(), (await life()).attempt as Attempt)
    await sending
    wait(seconds(30))
    await live(minutes(1), seconds(5), { startIsIdempotent: first === lost })
    expect(sent).toHaveLength(2)
    expect((await life()).attempt).toMatchObject({ state: 'unknown', sends: 2 })
  })

test('known not to have been sent: sent again on any provider, as soon as there is somebody', async () => {
  const { sent, live, life } = await journey([refused, refused, refused, yesSaid], () => no, {
    startIsIdempotent: false,
  })
  expect((await life()).attempt).toMatchObject({ state: 'not_sent' })
  await live(seconds(10))
  expect(sent).toHaveLength(4)
  const { kinds, payment } = await life()
  expect(kinds.slice(0, 3)).toEqual(['attempt_started', 'attempt_not_sent', 'attempt_pending'])
  expect(payment.status).toBe('failed') // as the provider said when it was asked
})

test('known not to have been sent, and nobody comes: failed after a minute, and the customer tries again at once', async () => {
  const { sent, live, life, begin } = await journey([refused], undefined, { startIsIdempotent: false })
  await live(seconds(50))
  expect((await life()).attempt).toMatchObject({ state: 'not_sent' })
  await live(minutes(1))
  expect(await life()).toMatchObject({
    attempt: { state: 'failed', reason: 'not_sent' },
    payment: { status: 'failed', status_reason: 'The provider could not be reached. Nothing was sent.' },
  })
  const before = sent.length
  for (const number of [2, 3, 4]) {
    expect(await begin(number)).toEqual({ done: 'started' })
    await live(minutes(2))
  }
  expect(sent.length).toBeGreaterThan(before)
})

test('a second sending that did not leave says nothing about the first', async () => {
  const { live, life } = await journey([lost, refused], undefined, { startIsIdempotent: true })
  await live(minutes(2))
  expect(await life()).toMatchObject({
    attempt: { state: 'unknown' },
    payment: { status: 'awaiting_payment' },
  })
})

test('sent after it had not left, then lost: it may have arrived, and is not sent again', async () => {
  const { sent, live, life } = await journey([refused, lost], undefined, { startIsIdempotent: false })
  await live(minutes(1))
  expect(sent).toHaveLength(2)
  expect((await life()).attempt).toMatchObject({ state: 'unknown' })
})

for (const [terms, lifetimeMs, visibleWithinMs] of [
  ['the time that an order lives', minutes(15), minutes(1)],
  ['the time until it is in sight', minutes(1), minutes(15)],
] as const)
  test(`absent means that it never arrived after ${terms}, and not before`, async () => {
    const { live, life } = await journey([lost], undefined, {
      visibleWithinMs,
      methods: [{ ...simulatedMethod, lifetimeMs }],
    })
    await live(minutes(14), minutes(1))
    expect((await life()).attempt).toMatchObject({ state: 'unknown' })
    await live(minutes(16), minutes(1))
    expect((await life()).attempt).toMatchObject({ state: 'failed', reason: 'never_arrived' })
  })
