import { afterAll, beforeAll, expect, test } from 'vitest'
import { pay } from '../../src/actions/payments/pay.ts'
import { promptPoll } from '../../src/actions/providers/callbacks.ts'
import { pollDue } from '../../src/actions/providers/pollDue.ts'
import type { Reply } from '../../src/core/provider/reply.ts'
import { claimDueAttempts } from '../../src/store/payments/dueAttempts.ts'
import { changesOn } from '../support/gateway/runtime.ts'
import { openPaymentDatabase, type PaymentDatabase } from '../support/payments/paymentDatabase.ts'
import { after, hours, no, noon, seconds, yes } from '../support/payments/rows.ts'
import { aPayRequest, simulatedAccount, simulatedNode } from '../support/payments/simulatedNode.ts'

let lives: PaymentDatabase
beforeAll(async () => {
  lives = await openPaymentDatabase()
})
afterAll(() => lives.close())

const fail = (error: unknown) => expect(error).toBeUndefined()
const says = (start: Reply, check: () => Promise<Reply>) => ({ start: () => Promise.resolve(start), check })

test('a callback long after the last time that we asked is heard', async () => {
  const [payment] = await lives.addPayments(1, noon)
  if (!payment) throw new Error('no payment')
  let now = noon
  const clock = () => now
  const node = (reply: Reply) =>
    simulatedNode(
      lives.db,
      clock,
      says(no, () => Promise.resolve(reply)),
    )
  await pay(node(no), payment, aPayRequest())
  now = after(hours(3))
  expect(await pollDue(node(no), fail)).toBe(1)
  now = after(hours(300))
  expect(await pollDue(node(yes), fail)).toBe(0)
  const [life] = await lives.read([payment.tx_reference])
  expect(
    await promptPoll({ ...changesOn(lives.db), clock, wake() {} }, life?.attempts[0]?.attempt_id ?? ''),
  ).toBe(true)
  await pollDue(node(yes), fail)
  expect((await lives.read([payment.tx_reference]))[0]?.payment).toMatchObject({ status: 'paid', late: true })
})

// A asks and its answer is slow; the money moves and the provider calls back; perhaps B asks and dies; then A's old no
// arrives.
test.each([
  ['while its question is leased, and another node asks and dies', seconds(1), true],
  ['after its lease ran out', seconds(25), false],
])('an old answer does not silence a knock %s', async (_when, knockAfter, isAsked) => {
  const [payment] = await lives.addPayments(1, noon)
  if (!payment) throw new Error('no payment')
  let now = noon
  const clock = () => now
  await pay(
    simulatedNode(
      lives.db,
      clock,
      says(no, () => Promise.resolve(no)),
    ),
    payment,
    aPayRequest(),
  )
  now = after(hours(3))
  let answer: ((reply: Reply) => void) | undefined
  const a = pollDue(
    simulatedNode(
      lives.db,
      clock,
      says(no, () => new Promise(done => (answer = done))),
    ),
    fail,
  )
  const asks = async () => (await lives.read([payment.tx_reference]))[0]?.attempts[0]?.polls
  await expect.poll(async () => answer && (await asks()), { timeout: 20_000 }).toBe(1)
  now = after(hours(3) + knockAfter)
  const [life] = await lives.read([payment.tx_reference])
  expect(
    await promptPoll({ ...changesOn(lives.db), clock, wake() {} }, life?.attempts[0]?.attempt_id ?? ''),
  ).toBe(true)
  const room = { ...simulatedAccount, callback_received: true, most: 20 }
  if (isAsked)
    expect(await claimDueAttempts(lives.db, [room], { now, until: after(seconds(20), now) })).toHaveLength(1) // B, that dies
  answer?.(no)
  await a
  now = after(seconds(21), now)
  await pollDue(
    simulatedNode(
      lives.db,
      clock,
      says(yes, () => Promise.resolve(yes)),
    ),
    fail,
  )
  expect((await lives.read([payment.tx_reference]))[0]?.payment).toMatchObject({ status: 'paid', late: true })
})
