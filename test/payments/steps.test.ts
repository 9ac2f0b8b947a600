import { EventEmitter, once } from 'node:events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pollDue } from '../../src/actions/providers/pollDue.ts'
import { cancel } from '../../src/actions/payments/cancel.ts'
import { giveUp } from '../../src/actions/payments/giveUp.ts'
import { pay } from '../../src/actions/payments/pay.ts'
import { submit } from '../../src/actions/payments/submit.ts'
import type { ProviderAccount } from '../../src/core/provider/provider.ts'
import type { Reply } from '../../src/core/provider/reply.ts'
import type { Step } from '../../src/core/provider/paymentMethod.ts'
import type { Payment } from '../../src/core/payment/payment.ts'
import { sql } from '../../src/store/db.ts'
import { type PaymentDatabase, openPaymentDatabase } from '../support/payments/paymentDatabase.ts'
import { aPayRequest, simulatedNode } from '../support/payments/simulatedNode.ts'
import { after, minutes, noon, pending, seconds, unclear, withdrawn, yes } from '../support/payments/rows.ts'

// A provider asks for something after the start, and the customer types it.
let lives: PaymentDatabase
beforeAll(async () => {
  lives = await openPaymentDatabase()
})
afterAll(() => lives.close())

const otp: Step = {
  name: 'otp',
  text: 'Type the code.',
  fields: [{ name: 'otp', kind: 'digits', maxLength: 6 }],
}
const asksOtp: Reply = { state: 'pending', step: otp }
const fail = (error: unknown) => expect(error).toBeUndefined()
const typed = { otp: '123456' }
let people = 0

type Says = { check?: Reply; submit?: Reply | (() => Promise<Reply>) }

async function journey(says: Says, more: Partial<ProviderAccount> = {}) {
  const [payment] = (await lives.addPayments(1, noon)) as [Payment]
  const carried: string[] = []
  let now = noon
  const node = () =>
    simulatedNode(lives.db, () => now, {
      start: async () => asksOtp,
      check: async () => says.check ?? asksOtp,
      submit: async (order, step, { otp: code }) => {
        carried.push(`${order.idempotency_key === order.attempt_id} ${step} ${code}`)
        return typeof says.submit === 'function' ? says.submit() : (says.submit ?? pending)
      },
      ...more,
    })
  await pay(
    node(),
    payment,
    aPayRequest({ address: `198.51.100.${++people}`, input: { phone: `024${2_000_000 + people}` } }),
  )
  const attempt = async () => {
    const [life] = await lives.read([payment.tx_reference])
    const [first] = life?.attempts ?? []
    if (!life || !first) throw new Error('no attempt')
    return { ...first, kinds: life.events.map(({ kind }) => kind), status: life.payment.status }
  }
  const live = async (ms: number) => {
    now = after(ms, now)
    await pollDue(node(), fail)
  }
  const type = (submits = 0, fields: Record<string, string> = typed) =>
    submit(node(), payment, { number: 1, submits, input: fields })
  return { payment, carried, attempt, live, type, node, says }
}

test('the step stands with the attempt, so that every device shows it', async () => {
  const { attempt } = await journey({})
  expect(await attempt()).toMatchObject({ state: 'needs_input', step: otp, submits: 0 })
  expect((await attempt()).kinds).toEqual(['attempt_started', 'attempt_needs_input'])
})

test('what was typed is carried on once, under the name of its step, and stands nowhere', async () => {
  const { attempt, type, carried } = await journey({})
  expect(await type()).toEqual({ done: 'submitted' })
  expect(carried).toEqual(['true otp 123456'])
  const submitted = await attempt()
  expect(submitted).toMatchObject({ state: 'pending', step: null, submits: 1, status: 'awaiting_payment' })
  expect(submitted.kinds.slice(-1)).toEqual(['attempt_submitted'])
  const books = await lives.db.rows<{ row: string }>(sql`
    select to_jsonb(a)::text as row from attempts a union all select to_jsonb(e)::text from events e`)
  expect(books.filter(({ row }) => row.includes('123456'))).toEqual([])
})

test('ten clicks at once carry on one', async () => {
  const { type, carried } = await journey({})
  const done = await Promise.all(Array.from({ length: 10 }, () => type()))
  expect(done.filter(one => one.done === 'submitted')).toHaveLength(1)
  expect(carried).toHaveLength(1)
})

test('a page of before submits nothing', async () => {
  const { type, carried, live } = await journey({ submit: asksOtp })
  await type()
  await live(seconds(5))
  expect(await type(0)).toEqual({ done: 'nothing' })
  expect(carried).toHaveLength(1)
  expect(await type(1)).toEqual({ done: 'submitted' })
})

test('five wrong codes, each after its wait: the sixth is not carried on, and the attempt stays open until the provider ends it', async () => {
  const { type, carried, live, attempt, says } = await journey({ submit: asksOtp })
  for (const [submits, wait] of [0, 5, 15, 30, 60].entries()) {
    if (wait > 0) {
      await live(seconds(wait) - 1)
      expect(await type(submits)).toEqual({ done: 'too_soon', waitMs: 1 })
      await live(1)
    }
    expect(await type(submits)).toEqual({ done: 'submitted' })
  }
  await live(minutes(30))
  expect(await type(5)).toEqual({ done: 'nothing' })
  expect(carried).toHaveLength(5)
  expect(await attempt()).toMatchObject({ state: 'needs_input', submits: 5, status: 'awaiting_payment' })
  says.check = yes
  await live(minutes(30))
  expect(await attempt()).toMatchObject({ state: 'paid', status: 'paid' })
})

test('a wrong code: the step is open again, with the text of the provider', async () => {
  const again: Reply = { state: 'pending', step: { ...otp, text: 'That code was wrong.' } }
  const { type, attempt } = await journey({ submit: again })
  await type()
  expect(await attempt()).toMatchObject({
    state: 'needs_input',
    submits: 1,
    step: { text: 'That code was wrong.' },
  })
})

for (const [name, fields, fault] of [
  ['nothing', {}, 'missing'],
  ['letters', { otp: 'abc' }, 'not_digits'],
  ['too much', { otp: '1234567' }, 'too_long'],
] as const)
  test(`typed ${name}: ${fault}, and nothing is carried on`, async () => {
    const { type, carried, attempt } = await journey({})
    expect(await type(0, fields)).toEqual({ done: 'faults', faults: [{ field: 'otp', fault }] })
    expect(carried).toEqual([])
    expect(await attempt()).toMatchObject({ state: 'needs_input', submits: 0 })
  })

test('the answer is lost: asked again, the step is open again, or the yes is heard', async () => {
  const { type, attempt, live, says } = await journey({ submit: unclear })
  await type()
  expect(await attempt()).toMatchObject({ state: 'pending', step: null })
  await live(seconds(40))
  expect(await attempt()).toMatchObject({ state: 'needs_input', step: otp, submits: 1 })
  says.submit = unclear
  await type(1)
  says.check = yes
  await live(seconds(40))
  expect(await attempt()).toMatchObject({ state: 'paid', status: 'paid' })
})

test('an answer from before the code was typed does not ask for it again', async () => {
  const provider = new EventEmitter()
  const answer = once(provider, 'answer').then(() => asksOtp)
  const isAsked = once(provider, 'asked')
  const { type, attempt, node } = await journey({})
  const asking = askInAMinute(node(), () => {
    provider.emit('asked')
    return answer
  })
  await isAsked
  await type()
  provider.emit('answer')
  await asking
  expect(await attempt()).toMatchObject({ state: 'pending', step: null, submits: 1 })
})

// A worker, by whose clock it is time to ask.
function askInAMinute(deps: ReturnType<typeof simulatedNode>, check: () => Promise<Reply>) {
  const providerAccounts = {
    ...deps.providerAccounts,
    findFor: ({ provider_account }: { provider_account: string }) => withCheck(deps, provider_account, check),
  }
  return pollDue({ ...deps, providerAccounts, clock: () => after(minutes(1)) }, fail)
}

function withCheck(deps: ReturnType<typeof simulatedNode>, name: string, check: () => Promise<Reply>) {
  const account = deps.providerAccounts.find(name)
  if (!account) throw new Error('no line')
  return { ...account, check }
}

test('given up or cancelled while it asks: what is typed then is not carried on', async () => {
  const one = await journey({}, { giveUp: async () => withdrawn })
  await giveUp(one.node(), one.payment, { number: 1, gave_up_for: 'method' })
  expect(await one.type()).toEqual({ done: 'nothing' })
  expect(await one.attempt()).toMatchObject({ state: 'failed', step: null })
  const two = await journey({})
  await cancel(two.node(), two.payment, noon)
  expect(await two.type()).toEqual({ done: 'nothing' })
  expect([...one.carried, ...two.carried]).toEqual([])
})

test('a provider that has no further steps says nothing about the money', async () => {
  const { type, attempt } = await journey({}, { submit: undefined })
  await type()
  expect(await attempt()).toMatchObject({ state: 'pending', status: 'awaiting_payment' })
})
