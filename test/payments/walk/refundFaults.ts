import { holdsAmount, isOpenRefund } from '../../../src/core/refund/refund.ts'
import type { StoredPayment } from '../../support/payments/paymentDatabase.ts'
import type { ProviderOrders } from './faults.ts'

const sumOf = (all: readonly { amount: bigint }[]) => all.reduce((sum, { amount }) => sum + amount, 0n)

// Checks everything that must hold for the refunds of a payment at every moment: what the provider made is what the database
// has, each once, and never more than was charged. At rest every refund has ended.
export function faultsOfRefunds(
  {
    payment,
    attempts,
    refunds,
    reversals,
  }: Pick<StoredPayment, 'payment' | 'attempts' | 'refunds' | 'reversals'>,
  orders: ProviderOrders,
  isAtRest: boolean,
): string[] {
  const faults: string[] = []
  const check = (holds: boolean, words: string) => void (holds || faults.push(words))
  for (const refund of refunds) {
    const { refund_reference: name, state, amount, attempt_id } = refund
    const entry = orders.get(attempt_id)?.ours.find(one => one.refund_reference === name)
    check(
      state !== 'succeeded' || entry?.state === 'made',
      `${name} succeeded, and the provider did not make it`,
    )
    check(
      state !== 'failed' || entry?.state !== 'made' || (entry.hasTurned === true && !isAtRest),
      `${name} failed, and the provider made it`,
    )
    check(!entry || entry.amount === amount, `${name} has another amount at the provider`)
    check(!isOpenRefund(refund) || refund.next_poll_at !== null, `${name} is open and never polled`)
    check(!isAtRest || !isOpenRefund(refund), `${name} has not ended: ${state}`)
    const account = attempts.find(one => one.attempt_id === attempt_id)?.provider_account
    check((entry?.starts ?? 0) <= 1 || account !== 'stepping', `${name} was sent again, which is not safe`)
  }
  for (const { reference, ours, amount } of orders.values()) {
    const known = new Set(refunds.map(({ refund_reference }) => refund_reference))
    check(
      ours.every(one => known.has(one.refund_reference)),
      `${reference} has a refund that the database has not`,
    )
    check(
      new Set(ours.map(({ key }) => key)).size === ours.length,
      `${reference} was refunded twice by one key`,
    )
    // A refund that succeeds after it failed may find its amount requested again. Then the provider refuses the later one.
    const isHeld = ours.some(({ hasTurned }) => hasTurned)
      ? ({ state }: { state: string }) => state === 'succeeded'
      : holdsAmount
    const held = refunds.filter(one => one.attempt_id === reference && isHeld(one))
    check(sumOf(held) <= amount, `${reference}: refunds exceed the charge`)
    const isOurs = (id: string) => ours.some(one => one.id === id)
    const taken = reversals.filter(one => one.attempt_id === reference && !one.refund_reference)
    check(
      !taken.some(({ reversal_id }) => isOurs(reversal_id)),
      `${reference}: a refund of ours is a reversal`,
    )
  }
  const succeeded = refunds.filter(({ state, source }) => state === 'succeeded' && source === 'payment')
  check((payment.refunded_amount ?? 0n) === sumOf(succeeded), 'the refunded amount differs')
  return faults
}
