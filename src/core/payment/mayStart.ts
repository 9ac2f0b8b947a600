import type { MerchantSettings } from '../merchant/settings.ts'
import type { Mode } from '../mode.ts'
import { type Attempt, isUnresolved } from './attempt.ts'
import type { NewPayment } from './payment.ts'

const maxAttempts = 10 // of one payment
const waitSeconds = [0, 0, 5, 10, 20, 30] // after the nth failure; the last one applies to all later ones

// Unpaid attempts within an hour, of one wallet and from one network address, at one merchant. Whole towns share an address
// of a mobile network, so that cap is generous. Test mode has higher caps, because tests fail on purpose.
export const failureWindowMs = 60 * 60_000
export const maxFailures: Record<Mode, { instrument: number; payer: number }> = {
  live: { instrument: 10, payer: 100 },
  test: { instrument: 200, payer: 400 },
}

// Unpaid attempts of one wallet or address in the window, newest first, as the database counts them. The `skipped` newest
// of them are not in `at`.
export type RecentFailures = { skipped: number; at: readonly Date[] }

// The time of the attempt that has to leave the window before the next one may begin, or null while the cap is not
// reached. `begun` are attempts that begin in the same transaction, oldest first: the database does not show them yet.
export function fillsCap({ skipped, at }: RecentFailures, begun: readonly Date[], cap: number): Date | null {
  const older = cap - begun.length
  return (older > 0 ? at[older - 1 - skipped] : begun[begun.length - cap]) ?? null
}

// Until the failures that fill a cap leave the window; 0 if no cap is full.
export function secondsToCool(failures: Record<'instrument' | 'payer', Date | null>, now: Date): number {
  const last = Math.max(failures.instrument?.getTime() ?? 0, failures.payer?.getTime() ?? 0)
  return Math.max(0, Math.ceil((last + failureWindowMs - now.getTime()) / 1000))
}

export type Obstacle =
  | 'paid'
  | 'cancelled'
  | 'unresolved' // another attempt is unresolved
  | 'expired'
  | 'closed' // the merchant is deactivated
  | 'no_retry' // the merchant does not allow a retry after a failure
  | 'too_many'
  | 'too_soon'

type Merchant = { active: boolean; settings: Pick<MerchantSettings, 'retry_after_failure'> }
type Subject = Pick<NewPayment, 'status' | 'expires_at'> & { cancel_requested_at: Date | null }

export type Refused = { obstacle: Obstacle; seconds: number } // until it may begin; 0: never, or unknown

// Why the attempt of this number may not begin now; undefined if it may. A number that is not the next one comes from an
// old form: another attempt is unresolved.
export function whyNotBegin(
  payment: Subject,
  attempts: readonly Attempt[],
  merchant: Merchant,
  number: number,
  now: Date,
): Refused | undefined {
  const isNext = number === attempts.length + 1
  const against = obstacle(payment, attempts, merchant, now) ?? (isNext ? undefined : 'unresolved')
  if (!against) return undefined
  return { obstacle: against, seconds: against === 'too_soon' ? secondsToWait(attempts, now) : 0 }
}

// Why no new attempt may begin now, or undefined.
export function obstacle(
  payment: Subject,
  attempts: readonly Attempt[],
  merchant: Merchant,
  now: Date,
): Obstacle | undefined {
  if (payment.status === 'paid') return 'paid'
  if (payment.status === 'cancelled' || payment.cancel_requested_at) return 'cancelled'
  if (attempts.some(isUnresolved)) return 'unresolved'
  if (payment.expires_at <= now) return 'expired'
  if (!merchant.active) return 'closed'
  if (payment.status === 'failed' && !merchant.settings.retry_after_failure) return 'no_retry'
  if (attempts.length >= maxAttempts) return 'too_many'
  return secondsToWait(attempts, now) > 0 ? 'too_soon' : undefined
}

// Each failure makes the next attempt wait longer, which makes card testing slow.
export function secondsToWait(attempts: readonly Attempt[], now: Date): number {
  const last = attempts.at(-1)
  if (!last?.ended_at || last.reason === 'not_sent') return 0 // then nothing was sent
  const wait = waitSeconds[Math.min(attempts.length, waitSeconds.length - 1)] as number
  return Math.max(0, Math.ceil(wait - (now.getTime() - last.ended_at.getTime()) / 1000))
}
