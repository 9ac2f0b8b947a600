import { balancesOf } from '../../../src/core/ledger/balance.ts'
import type { NewTransfer } from '../../../src/core/ledger/book.ts'
import type { Attempt } from '../../../src/core/payment/attempt.ts'
import type { DisputeRecord, ReversalRecord } from '../../../src/core/payment/change.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { isOpenRefund, type Refund } from '../../../src/core/refund/refund.ts'
import type { ProviderOrders } from './faults.ts'
import type { Entry } from './provider.ts'

type Booked = {
  payment: Payment
  attempts: readonly Attempt[]
  refunds: readonly Refund[]
  reversals: readonly ReversalRecord[]
  disputes: readonly DisputeRecord[]
  transfers: readonly NewTransfer[]
}

const sumOf = (all: readonly { amount: bigint }[]) => all.reduce((sum, { amount }) => sum + amount, 0n)
const least = (a: bigint, b: bigint) => (a < b ? a : b)

// Checks that the ledger of a payment has what the providers have moved, as far as they have reported it. The amounts are
// those of the simulated providers, not those in the database.
export function faultsOfLedger(record: Booked, orders: ProviderOrders): string[] {
  const { attempts, refunds, transfers } = record
  const faults: string[] = []
  const check = (booked: bigint, expected: bigint, words: string) =>
    void (booked === expected || faults.push(`${words}: ${booked} is booked, and ${expected} expected`))
  for (const attempt of attempts) {
    const { attempt_id, provider_account } = attempt
    const own = transfers.filter(one => one.attempt_id === attempt_id)
    const booked = balancesOf(own).get(`provider:${provider_account}`) ?? 0n
    check(booked, moneyAtProvider(record, attempt, orders.get(attempt_id)), `${attempt_id} at the provider`)
  }
  const ids = transfers.map(({ transfer_id }) => transfer_id)
  if (new Set(ids).size !== ids.length) faults.push('a transfer is booked twice')
  const balances = balancesOf(transfers)
  const balance = (account: string) => balances.get(account) ?? 0n
  check(balance('refunds_pending'), sumOf(refunds.filter(isOpenRefund)), 'refunds pending')
  const owed = attempts.some(attempt => isBeyond(record, attempt)) ? undefined : owedFor(record)
  if (owed === undefined) return faults
  check(balance('merchant') + balance('gateway_fees'), owed.merchant, 'what is owed to merchant and operator')
  check(balance('suspense'), owed.suspense, 'suspense')
  return faults
}

const isKnown = ({ state, charged }: Attempt) => state === 'paid' || charged !== null

// What the provider has of a charge, by its own books. Reversals and lost disputes count when they are recorded, and
// together never more than the charge.
function moneyAtProvider(record: Booked, attempt: Attempt, entry: Entry | undefined): bigint {
  if (!entry || !isKnown(attempt)) return 0n
  const { back, refunded } = returnedOf(record, attempt, entry)
  return entry.amount - (attempt.fee ?? 0n) - least(back, entry.amount) - refunded
}

function returnedOf({ refunds, reversals, disputes }: Booked, { attempt_id }: Attempt, entry: Entry) {
  const isRecorded = ({ id }: { id: string }) =>
    reversals.some(one => one.attempt_id === attempt_id && one.reversal_id === id && !one.refund_reference)
  const isLost = ({ id, state }: { id: string; state: string }) =>
    state === 'lost' &&
    disputes.some(one => one.attempt_id === attempt_id && one.dispute_id === id && one.state === 'lost')
  const hasSucceeded = ({ refund_reference }: { refund_reference: string }) =>
    refunds.some(one => one.refund_reference === refund_reference && one.state === 'succeeded')
  return {
    back: sumOf(entry.refunds.filter(isRecorded)) + sumOf(entry.disputes.filter(isLost)),
    refunded: sumOf(entry.ours.filter(one => one.state === 'made' && hasSucceeded(one))),
  }
}

const ofAttempt =
  ({ attempt_id }: Attempt) =>
  (one: { attempt_id: string }) =>
    one.attempt_id === attempt_id

const takenFrom = ({ reversals, disputes }: Booked, attempt: Attempt) =>
  sumOf(reversals.filter(ofAttempt(attempt)).filter(({ refund_reference }) => !refund_reference)) +
  sumOf(disputes.filter(ofAttempt(attempt)).filter(({ state }) => state === 'lost'))

// More went back by reversals and lost disputes than was charged: then the ledger stops at the charge.
const isBeyond = (record: Booked, attempt: Attempt) =>
  isKnown(attempt) && takenFrom(record, attempt) > (attempt.charged ?? record.payment.total)

const sum = (all: readonly Attempt[], amountOf: (attempt: Attempt) => bigint) =>
  all.reduce((total, attempt) => total + amountOf(attempt), 0n)

// What the operator owes for the payment, and what belongs to no payment.
function owedFor(record: Booked) {
  const { payment, attempts, refunds, disputes } = record
  const refundsOf = (source: Refund['source']) =>
    sumOf(refunds.filter(one => one.source === source && one.state !== 'failed'))
  const isPaying = ({ attempt_id }: Attempt) => attempt_id === payment.paid_attempt_id
  const known = attempts.filter(isKnown)
  const charged = ({ charged: amount }: Attempt) => amount ?? payment.total
  const held = (attempt: Attempt) =>
    sumOf(disputes.filter(ofAttempt(attempt)).filter(({ state }) => state === 'open'))
  const paying = known.filter(isPaying)
  const others = known.filter(attempt => !isPaying(attempt))
  const left = (attempt: Attempt) => charged(attempt) - takenFrom(record, attempt)
  return {
    merchant: sum(paying, one => left(one) - (one.fee ?? 0n) - held(one)) - refundsOf('payment'),
    suspense: sum(others, left) + sum(paying, held) - refundsOf('surplus'),
  }
}
