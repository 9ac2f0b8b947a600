import { afterAll, beforeAll, expect, test } from 'vitest'
import { pay, type PayRequest } from '../../src/actions/payments/pay.ts'
import { openDb, sql } from '../../src/store/db.ts'
import { type PaymentDatabase, openPaymentDatabase } from '../support/payments/paymentDatabase.ts'
import { aPayRequest, recordingAccount, simulatedNode } from '../support/payments/simulatedNode.ts'
import { no, noon } from '../support/payments/rows.ts'

// Payments that are requested at once begin in one transaction, or in few. The caps hold there as they do one by one.
let lives: PaymentDatabase

beforeAll(async () => {
  lives = await openPaymentDatabase(8)
})
afterAll(() => lives.close())

const phone = (at: number) => ({ phone: `024${1_000_000 + at}` })

async function addLivePayments(count: number) {
  // Those of the test before. In UTC, because Citus refuses what depends on the time zone of the session.
  await lives.db.rows(sql`
    update attempts set created_at = (created_at at time zone 'UTC' - interval '1 day') at time zone 'UTC'`)
  const payments = await lives.addPayments(count, noon)
  await lives.db.rows(sql`update payments set mode = 'live' where status = 'awaiting_payment'`)
  return payments.map(payment => ({ ...payment, mode: 'live' as const }))
}

async function payAtOnce(tries: number, before: number, request: (at: number) => PayRequest) {
  const line = recordingAccount(() => no)
  const node = simulatedNode(lives.db, () => noon, line, 'live')
  const payments = await addLivePayments(before + tries)
  for (const [at, payment] of payments.slice(0, before).entries()) await pay(node, payment, request(at))
  const burst = payments.slice(before).toReversed() // the order of arrival is not the order of the references
  const answers = await Promise.all(burst.map((payment, at) => pay(node, payment, request(before + at))))
  return { started: line.started, burst, answers }
}

const fromManyAddresses = (at: number) => aPayRequest({ address: `192.0.${at >> 8}.${at % 256}` })

for (const [tries, words, before, wish, most] of [
  [60, 'one wallet', 0, fromManyAddresses, 10],
  [60, 'one wallet that has tried four times before', 4, fromManyAddresses, 10],
  [300, 'one wallet, more than one transaction takes', 0, fromManyAddresses, 10],
  [250, 'many wallets from one address', 0, (at: number) => aPayRequest({ input: phone(at) }), 100],
  [60, 'two wallets', 0, (at: number) => aPayRequest({ ...fromManyAddresses(at), input: phone(at % 2) }), 20],
] as const)
  test(`${tries} payments at once of ${words}: the first ${most} reach the provider`, async () => {
    const { started, burst, answers } = await payAtOnce(tries, before, wish)
    expect(started).toHaveLength(most)
    const first = burst.slice(0, most - before).map(({ tx_reference }) => tx_reference)
    expect(new Set(started.slice(before).map(order => order.tx_reference))).toEqual(new Set(first))
    for (const answer of answers.slice(most - before))
      expect(answer).toEqual({ done: 'refused', obstacle: 'too_many', seconds: 3600 })
  })

test('two nodes at once let at most twice the cap through', async () => {
  const line = recordingAccount(() => no)
  const pools = [openDb(lives.url, 4), openDb(lives.url, 4)]
  const nodes = pools.map(pool => simulatedNode(pool, () => noon, line, 'live'))
  const payments = await addLivePayments(120)
  await Promise.all(
    payments.map((payment, at) => pay(nodes[at % 2] as (typeof nodes)[0], payment, fromManyAddresses(at))),
  )
  expect(line.started.length).toBeGreaterThanOrEqual(10)
  expect(line.started.length).toBeLessThanOrEqual(20)
  await Promise.all(pools.map(pool => pool.end()))
})
