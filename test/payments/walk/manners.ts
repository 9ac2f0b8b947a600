import type { ProviderTiming } from '../../../src/core/provider/provider.ts'
import { hours, minutes, seconds } from '../../support/payments/rows.ts'

// What kind of provider is played, and what its provider says of it. A provider keeps what its provider promises, and does
// whatever else it likes.
export type Manner = {
  name: string
  payment_method: string
  startIsIdempotent: boolean // else a reference that comes again is refused
  visibleWithinMs: number
  lifetimeMs: number
  failureMayReverseForMs: number
  timing: ProviderTiming
  canWithdraw: boolean
  asksForCode: boolean // after the start of some orders
  hasOddWords: boolean // words that nobody knows, beside what is so
  isClosing: boolean // what nobody approves while it lives is refused; else it decides when it likes
}

// Decides when it likes, and tells for sure what it charges later than anybody asks.
export const plain: Manner = {
  name: 'simulated',
  payment_method: 'mtn_mobile_money',
  startIsIdempotent: true,
  visibleWithinMs: minutes(5),
  lifetimeMs: minutes(5),
  failureMayReverseForMs: hours(2),
  timing: {},
  canWithdraw: true,
  asksForCode: false,
  hasOddWords: false,
  isClosing: false,
}

// A wallet's own line: a key that is taken once however often it comes, out of sight for a while, a prompt on the phone, a
// no that stays, callbacks or none, and a word that stands in no list.
export const prompting: Manner = {
  ...plain,
  name: 'prompting',
  payment_method: 'airteltigo_money',
  visibleWithinMs: minutes(4),
  failureMayReverseForMs: 0,
  timing: { firstPollMs: seconds(3) },
  canWithdraw: false,
  hasOddWords: true,
  isClosing: true,
}

// One that stands before several networks: it asks for a code, and calls abandoned what is still finished later.
export const stepping = (failureMayReverseForMs: number): Manner => ({
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
  isClosing: true,
})

export const absentForMs = ({ visibleWithinMs, lifetimeMs }: Manner) => Math.max(visibleWithinMs, lifetimeMs)
