import type { Pace } from '../../../src/core/channel/channel.ts'
import { hours, minutes, seconds } from '../../support/lifeRows.ts'

// What kind of provider is played, and what its channel says of it. A provider keeps what its channel promises, and does
// whatever else it likes.
export type Manner = {
  name: string
  payment_method: string
  startIsIdempotent: boolean // else a reference that comes again is refused
  visibleWithinMs: number
  livesForMs: number
  noMayTurnForMs: number
  pace: Pace
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
  livesForMs: minutes(5),
  noMayTurnForMs: hours(2),
  pace: {},
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
  noMayTurnForMs: 0,
  pace: { firstLookMs: seconds(3) },
  canWithdraw: false,
  hasOddWords: true,
  isClosing: true,
}

// One that stands before several networks: it asks for a code, and calls abandoned what is still finished later.
export const stepping = (noMayTurnForMs: number): Manner => ({
  ...plain,
  name: 'stepping',
  payment_method: 'telecel_cash',
  startIsIdempotent: false,
  visibleWithinMs: minutes(3),
  livesForMs: minutes(15),
  noMayTurnForMs,
  pace: {
    firstLookMs: seconds(10),
    gapsMs: [seconds(10), seconds(30), minutes(3)],
    startWithinMs: seconds(30),
  },
  canWithdraw: false,
  asksForCode: true,
  isClosing: true,
})

export const absentForMs = ({ visibleWithinMs, livesForMs }: Manner) => Math.max(visibleWithinMs, livesForMs)
