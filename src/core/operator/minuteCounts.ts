import type { Mode } from '../mode.ts'
import { countedOutcome } from '../provider/health.ts'

// What a node counts in each minute for the operator's live view. The counts of nodes and minutes are added up.

// Upper bounds of the time in which payment requests were answered, as in tollgate_http_request_seconds.
export const requestBoundsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

// Attempts of one account and payment method that ended.
export type EndedCounts = {
  paid: number
  declined: number // for a reason of the customer's
  troubled: number // for a reason of the account or its provider
  paidSeconds: number // the sum of the times from start to payment
}

export type MinuteCounts = {
  ended: Readonly<Record<string, EndedCounts>> // by endedKey
  delays: readonly number[] // payment requests by response time; the last one is above all bounds
  refused: number // payment requests that were refused for load
}

export const noDelays: readonly number[] = [...requestBoundsSeconds, Infinity].map(() => 0)
export const noneEnded: EndedCounts = { paid: 0, declined: 0, troubled: 0, paidSeconds: 0 }
export const noMinuteCounts: MinuteCounts = { ended: {}, delays: noDelays, refused: 0 }

export type EndedOf = { mode: Mode; account: string; payment_method: string }

export const endedKey = ({ mode, account, payment_method }: EndedOf) => `${mode} ${account} ${payment_method}`

export function readEndedKey(key: string): EndedOf {
  const [mode, account = '', payment_method = ''] = key.split(' ')
  return { mode: mode === 'live' ? 'live' : 'test', account, payment_method }
}

export const addEnded = (one: EndedCounts, other: EndedCounts): EndedCounts => ({
  paid: one.paid + other.paid,
  declined: one.declined + other.declined,
  troubled: one.troubled + other.troubled,
  paidSeconds: one.paidSeconds + other.paidSeconds,
})

export function addMinuteCounts(one: MinuteCounts, other: MinuteCounts): MinuteCounts {
  const ended = { ...one.ended }
  for (const [key, counts] of Object.entries(other.ended))
    ended[key] = addEnded(ended[key] ?? noneEnded, counts)
  return {
    ended,
    delays: one.delays.map((count, at) => count + (other.delays[at] ?? 0)),
    refused: one.refused + other.refused,
  }
}

// How the end of an attempt counts. Undefined if it says nothing about the account, such as an order that was never sent.
export function endedCounts(state: string, reason: string, seconds: number): EndedCounts | undefined {
  const outcome = countedOutcome(state, reason)
  if (!outcome) return undefined
  return { ...noneEnded, [outcome]: 1, ...(outcome === 'paid' && { paidSeconds: Math.max(0, seconds) }) }
}

// The sum of one mode, and of one account if it is named.
export const endedIn = (ended: MinuteCounts['ended'], mode: Mode, account?: string): EndedCounts =>
  Object.entries(ended).reduce((sum, [key, counts]) => {
    const of = readEndedKey(key)
    const isCounted = of.mode === mode && (account === undefined || of.account === account)
    return isCounted ? addEnded(sum, counts) : sum
  }, noneEnded)

export const endedTotal = ({ paid, declined, troubled }: EndedCounts) => paid + declined + troubled

// From 0 to 1; undefined without an ended attempt.
export const successRate = (counts: EndedCounts): number | undefined =>
  endedTotal(counts) === 0 ? undefined : counts.paid / endedTotal(counts)

export const meanSecondsToPay = ({ paid, paidSeconds }: EndedCounts): number | undefined =>
  paid === 0 ? undefined : paidSeconds / paid

// The upper bound of the bucket that has this quantile, in milliseconds: Infinity above all
// bounds, undefined without a request.
export function delayQuantileMs(delays: readonly number[], quantile: number): number | undefined {
  const total = delays.reduce((sum, count) => sum + count, 0)
  if (total === 0) return undefined
  let seen = 0
  const at = delays.findIndex(count => (seen += count) >= quantile * total)
  return (requestBoundsSeconds[at] ?? Infinity) * 1000
}

export const minuteMs = 60_000
export const minuteOf = (at: Date) => new Date(Math.floor(at.getTime() / minuteMs) * minuteMs)
