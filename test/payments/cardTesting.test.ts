import { afterAll, beforeAll, expect, test } from 'vitest'
import { pay, type PayRequest } from '../../src/actions/payments/pay.ts'
import type { Mode } from '../../src/core/mode.ts'
import { sql } from '../../src/store/db.ts'
import { type PaymentDatabase, openPaymentDatabase } from '../support/payments/paymentDatabase.ts'
import { aPayRequest, recordingAccount, simulatedNode } from '../support/payments/simulatedNode.ts'
import { after, hours, no, noon, seconds } from '../support/payments/rows.ts'

let lives: PaymentDatabase

beforeAll(async () => {
  lives = await openPaymentDatabase()
})
afterAll(() => lives.close())

const phone = (at: number) => ({ phone: `024${1_000_000 + at}` })

// One payment after the other, each tried once; gives back how many orders the provider saw.
async function tryAll(tries: number, mode: Mode, from: Date, request: (at: number) => PayRequest) {
  await lives.db.rows(sql`update attempts set created_at = created_at - interval '1 day'`) // the last test is over
  const line = recordingAccount(() => no)
  const node = simulatedNode(lives.db, () => from, line, mode)
  const payments = await lives.addPayments(tries, from)
  if (mode === 'live')
    await lives.db.rows(sql`update payments set mode = 'live' where status = 'awaiting_payment'`)
  for (const [at, payment] of payments.entries()) await pay(node, { ...payment, mode }, request(at))
  return line.started.length
}

for (const [tries, words, mode, wish, most] of [
  [
    1000,
    'one wallet from many addresses',
    'live',
    (at: number) => aPayRequest({ address: `192.0.${at >> 8}.${at % 256}` }),
    10,
  ],
  [1000, 'many wallets from one address', 'live', (at: number) => aPayRequest({ input: phone(at) }), 100],
  [
    150,
    'many wallets from one /64',
    'live',
    (at: number) => aPayRequest({ input: phone(at), address: `2001:db8::${at}` }),
    100,
  ],
  [250, 'one test wallet from one address', 'test', () => aPayRequest(), 200],
] as const) {
  test(`${tries} declines of ${words} stop after ${most}, and the next is possible an hour later`, async () => {
    expect(await tryAll(tries, mode, noon, wish)).toBe(most)
    const line = recordingAccount(() => no)
    const [payment] = await lives.addPayments(1, after(hours(1.01)))
    const node = simulatedNode(lives.db, () => after(hours(1.01)), line)
    expect(payment && (await pay(node, payment, wish(0)))).toEqual({ done: 'started' })
  })
}

test('a payment is tried ten times, each wait at least as long as the one before', async () => {
  const line = recordingAccount(() => no)
  let now = noon
  const node = simulatedNode(lives.db, () => now, line)
  const [payment] = await lives.addPayments(1, noon)
  if (!payment) throw new Error('no payment')
  const starts: number[] = []
  for (let second = 0; second < 600; second++) {
    now = after(seconds(second))
    const number = line.started.length + 1
    const { done } = await pay(
      node,
      payment,
      aPayRequest({ number, input: phone(number), address: `10.0.0.${number}` }),
    )
    if (done === 'started') starts.push(second)
  }
  expect(starts).toEqual([0, 1, 6, 16, 36, 66, 96, 126, 156, 186])
})
