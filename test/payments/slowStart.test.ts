import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pay } from '../../src/actions/payments/pay.ts'
import type { Reply } from '../../src/core/provider/reply.ts'
import { type PaymentDatabase, openPaymentDatabase } from '../support/payments/paymentDatabase.ts'
import { aPayRequest, simulatedNode } from '../support/payments/simulatedNode.ts'
import { noon, pending } from '../support/payments/rows.ts'

let lives: PaymentDatabase
beforeAll(async () => {
  lives = await openPaymentDatabase()
})
afterAll(() => lives.close())

test('a provider that takes its time: the customer waits on the page, and its answer is heard when it comes', async () => {
  const [payment] = await lives.addPayments(1, noon)
  if (!payment) throw new Error('no payment')
  const stateNow = async () => (await lives.read([payment.tx_reference]))[0]?.attempts[0]?.state
  const asked: ((reply: Reply) => void)[] = []
  const start = () => new Promise<Reply>(resolve => void asked.push(resolve))
  const node = simulatedNode(lives.db, () => noon, { start, check: start })
  const paying = pay(node, payment, aPayRequest())
  expect(await Promise.race([paying, sleep(15_000, 'still waiting')])).toEqual({ done: 'started' })
  expect(await stateNow()).toBe('started')
  for (const answer of asked) answer(pending)
  for (let tries = 0; tries < 500 && (await stateNow()) === 'started'; tries++) await sleep(10)
  expect(await stateNow()).toBe('pending')
})
