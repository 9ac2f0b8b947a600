import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { type Db, openDb } from '../../../src/store/db.ts'
import { query } from '../../support/database/database.ts'
import { openPaymentDatabase, type PaymentDatabase } from '../../support/payments/paymentDatabase.ts'
import { hours, minutes } from '../../support/payments/rows.ts'
import { randomSeed } from '../../support/random.ts'
import { createCrowd, retryUnavailable } from './crowd.ts'
import { faultsAtRest, faultsOf, faultsOfTasks } from './faults.ts'
import { faultsOfLedger } from './ledgerFaults.ts'
import { faultsOfRefunds } from './refundFaults.ts'

const isProof = inject('isProof')
const generations = isProof ? 8 : 1
const payments = 50
const rounds = 66
const stepsOfRound = 40
const hotPayments = 6 // all steps of a round act on these

// A long walk that never reaches one of these states proves nothing about it.
const everything = [
  'attempt_disputed by provider',
  'attempt_failed by provider',
  'attempt_given_up by customer',
  'attempt_needs_input by provider',
  'attempt_not_sent by provider',
  'attempt_paid by provider',
  'attempt_pending by provider',
  'attempt_resent by clock',
  'attempt_started by customer',
  'attempt_submitted by customer',
  'attempt_unknown by provider',
  'awaiting_payment by customer',
  'awaiting_payment by merchant',
  'cancel_wished by customer',
  'cancelled by customer',
  'cancelled by provider',
  'dispute_lost by provider',
  'dispute_opened by provider',
  'dispute_won by provider',
  'failed by clock',
  'failed by provider',
  'overpaid by provider',
  'paid by provider',
  'refund_failed by provider',
  'refund_pending by provider',
  'refund_requested by merchant',
  'refund_requested by operator',
  'refund_succeeded by provider',
  'refund_unknown by provider',
  'reversed by provider',
]

const fees = { fee: '1.5% + 0.20, at most 20.00', fee_on_refund: 'return' }

let lives: PaymentDatabase
let pools: Db[]

beforeAll(async () => {
  lives = await openPaymentDatabase()
  await query(lives.url, `update merchants set settings = '${JSON.stringify(fees)}'`)
  pools = [openDb(lives.url, 6), openDb(lives.url, 6)]
})
afterAll(async () => {
  await Promise.all(pools.map(pool => pool.end()))
  await lives.close()
})

test(`${generations * rounds * stepsOfRound} steps of nodes that crash, on a real database: every charge finds its place`, async () => {
  const seed = randomSeed()
  const crowd = createCrowd(pools, seed)
  const happened = new Set<string>()

  async function check(all: readonly Payment[], isAtRest = false) {
    const references = all.map(({ tx_reference }) => tx_reference)
    for (const record of await retryUnavailable(() => lives.read(references))) {
      const { orders, comes } = crowd.ordersAt(record.payment.tx_reference)
      crowd.pages.set(record.payment.tx_reference, record.attempts.at(-1) ?? { number: 0, submits: 0 })
      const faults = [
        ...faultsOf(record, orders, comes),
        ...faultsOfTasks(record, orders),
        ...faultsOfRefunds(record, orders, isAtRest),
        ...faultsOfLedger(record, orders),
        ...(isAtRest ? faultsAtRest(record, orders, crowd.clock()) : []),
      ]
      if (faults.length > 0) expect({ seed, faults, record, orders }).toBe('a record without faults')
      for (const { kind, to_status, cause } of record.events) happened.add(`${to_status ?? kind} by ${cause}`)
    }
  }

  for (let generation = 0; generation < generations; generation++) {
    const expiry = () => crowd.pick([minutes(5), hours(1), hours(3), hours(7)])
    const all = await lives.addPayments(payments, crowd.clock(), expiry)
    for (let round = 0; round < rounds; round++) {
      const hot = Array.from({ length: hotPayments }, () => crowd.pick(all))
      await crowd.round(hot, stepsOfRound)
      await check(hot)
    }
    await crowd.rest()
    await check(all, true)
  }
  if (isProof) expect([...happened].toSorted()).toEqual(everything)
}, 600_000)
