import { afterAll, beforeAll, expect, test } from 'vitest'
import { pay } from '../../src/actions/payments/pay.ts'
import { type Db, openDb } from '../../src/store/db.ts'
import { attemptsOf } from '../../src/store/payments/attempts.ts'
import { type PaymentDatabase, openPaymentDatabase } from '../support/payments/paymentDatabase.ts'
import { aPayRequest, recordingAccount, simulatedNode } from '../support/payments/simulatedNode.ts'
import { after, noon, pending, seconds } from '../support/payments/rows.ts'

const clicks = 50
let lives: PaymentDatabase
let pools: Db[]

beforeAll(async () => {
  lives = await openPaymentDatabase()
  pools = [openDb(lives.url, 5), openDb(lives.url, 5)]
})
afterAll(async () => {
  await Promise.all(pools.map(pool => pool.end()))
  await lives.close()
})

// Half of them on each node, all at once.
async function click(numberOf: (at: number) => number, answer = pending) {
  const [payment] = await lives.addPayments(1, noon)
  if (!payment) throw new Error('no payment')
  const line = recordingAccount(() => answer)
  const nodes = pools.map(pool => simulatedNode(pool, () => after(seconds(1)), line))
  const node = (at: number) => nodes[at % nodes.length] as (typeof nodes)[number]
  const payings = await Promise.all(
    Array.from({ length: clicks }, (_, at) => pay(node(at), payment, aPayRequest({ number: numberOf(at) }))),
  )
  const attempts = await attemptsOf(lives.db, payment.merchant_id, payment.tx_reference)
  return { done: payings.map(({ done }) => done), attempts, started: line.started }
}

test(`${clicks} clicks on one form at once: one attempt, one order, one answer for all`, async () => {
  const { done, attempts, started } = await click(() => 1)
  expect(done).toEqual(Array.from({ length: clicks }, () => 'started'))
  expect(attempts).toMatchObject([{ number: 1, state: 'pending' }])
  expect(started.map(order => order.attempt_id)).toEqual([attempts[0]?.attempt_id])
})

test(`${clicks} forms of different numbers at once: one attempt, one order`, async () => {
  const { done, attempts, started } = await click(at => at + 1)
  expect(done.toSorted()).toEqual(
    ['started', ...Array.from({ length: clicks - 1 }, () => 'refused')].toSorted(),
  )
  expect(attempts).toMatchObject([{ number: 1, state: 'pending' }])
  expect(started).toHaveLength(1)
})

test('a form of an attempt that has failed by now starts nothing', async () => {
  const { attempts, started } = await click(() => 1, { state: 'failed', reason: 'declined' })
  expect(attempts).toMatchObject([{ number: 1, state: 'failed' }])
  expect(started).toHaveLength(1)
})

for (const number of [0, -1, 2, 99])
  test(`a form with the number ${number} starts nothing`, async () => {
    const { attempts, started } = await click(() => number)
    expect([attempts, started]).toEqual([[], []])
  })
