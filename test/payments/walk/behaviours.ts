import type { ProviderTiming } from '../../../src/core/provider/provider.ts'
import { hours, minutes, seconds } from '../../support/payments/rows.ts'

// How a simulated provider behaves. It keeps what its module declares; everything else is random.
export type Behaviour = {
  name: string
  payment_method: string
  startIsIdempotent: boolean // else a repeated reference is refused
  visibleWithinMs: number
  lifetimeMs: number
  failureMayReverseForMs: number
  timing: ProviderTiming
  canWithdraw: boolean
  asksForCode: boolean // after the start of some orders
  sendsUnknownCodes: boolean // instead of some replies
  feeShare: bigint // the provider takes this part of the amount, one divided by it; 0n: it reports no fee
  isClosing: boolean // an order that is not approved within its lifetime is refused; else it may be decided at any time
}

// Decides at any time, and calls back reliably for a charge that comes after the last poll.
export const plain: Behaviour = {
  name: 'simulated',
  payment_method: 'mtn_mobile_money',
  startIsIdempotent: true,
  visibleWithinMs: minutes(5),
  lifetimeMs: minutes(5),
  failureMayReverseForMs: hours(2),
  timing: {},
  canWithdraw: true,
  asksForCode: false,
  sendsUnknownCodes: false,
  feeShare: 0n,
  isClosing: false,
}

// A wallet operator: idempotent starts, orders that become visible after a while, a prompt on the phone, final refusals,
// callbacks that may be missing, and unknown codes.
export const prompting: Behaviour = {
  ...plain,
  name: 'prompting',
  payment_method: 'airteltigo_money',
  visibleWithinMs: minutes(4),
  failureMayReverseForMs: 0,
  timing: { firstPollMs: seconds(3) },
  canWithdraw: false,
  sendsUnknownCodes: true,
  isClosing: true,
}

// An aggregator of several networks: it asks for a code, and may report an order as abandoned that is paid later.
export const stepping = (failureMayReverseForMs: number): Behaviour => ({
  ...plain,
  name: 'stepping',
  payment_method: 'telecel_cash',
  startIsIdempotent: false,
  visibleWithinMs: minutes(3),
  lifetimeMs: minutes(15),
  failureMayReverseForMs,
  timing: {
    firstPollMs: seconds(10),
    pollGapsMs: [seconds(10), seconds(30), minutes(3)],
    startTimeoutMs: seconds(30),
  },
  canWithdraw: false,
  asksForCode: true,
  feeShare: 50n,
  isClosing: true,
})

export const absentForMs = ({ visibleWithinMs, lifetimeMs }: Behaviour) =>
  Math.max(visibleWithinMs, lifetimeMs)
