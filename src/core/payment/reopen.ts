import type { MerchantSettings } from '../merchant/settings.ts'
import { type Attempt, isUnresolved } from './attempt.ts'
import { statusEvent } from './change.ts'
import type { Ended } from './end.ts'
import type { NewEvent } from './event.ts'
import { obstacle } from './mayStart.ts'
import { move, type NewPayment, type Payment } from './payment.ts'
import type { Task } from './task.ts'

// Of one payment. Each tells the merchant, and whoever holds a shop's form could go on for ever.
export const maxReopenings = 30

export type Merchant = {
  active: boolean
  settings: Pick<MerchantSettings, 'reopen_unpaid' | 'expiry_minutes' | 'retry_after_failure'>
}
export type Past = {
  attempts: readonly Attempt[]
  tasks: readonly Pick<Task, 'kind'>[]
  events: readonly NewEvent[]
}

// Whether there is anything to open: it was cancelled, or its time is over. One that failed before is tried again on its
// page.
export const hasEndedUnpaid = (
  { status, expires_at }: Pick<NewPayment, 'status' | 'expires_at'>,
  now: Date,
) => status === 'cancelled' || (status !== 'paid' && expires_at <= now)

// The merchant asks again for what ended unpaid: the customer may pay it after all. Only where nobody can have paid
// already, and where somebody could pay then; otherwise undefined, and the payment stays as it is.
export function reopen(payment: Payment, past: Past, merchant: Merchant, now: Date): Ended | undefined {
  const { settings } = merchant
  if (!settings.reopen_unpaid || payment.redacted_at || !hasEndedUnpaid(payment, now)) return undefined
  if (payment.charged !== null || past.attempts.some(mayHaveTaken) || past.tasks.some(isAboutMoney))
    return undefined
  if (past.events.filter(isReopening).length >= maxReopenings) return undefined
  const expires_at = new Date(now.getTime() + settings.expiry_minutes * 60_000)
  const open = { ...payment, expires_at, cancel_requested_at: null }
  const moved = move(open, 'awaiting_payment', '', now)
  const reopened = moved ?? { ...open, updated_at: now } // nobody had noticed yet that its time was over
  const against = obstacle(reopened, past.attempts, merchant, now)
  if (against && against !== 'too_soon') return undefined
  return { payment: reopened, events: moved ? [statusEvent(payment, moved, 'merchant', null, now)] : [] }
}

// What a person gave up may have been paid all the same.
const mayHaveTaken = (attempt: Attempt) =>
  isUnresolved(attempt) ||
  attempt.state === 'paid' ||
  attempt.charged !== null ||
  attempt.reason === 'given_up'

// All but that a provider was silent for a day, and has spoken since.
const isAboutMoney = ({ kind }: Pick<Task, 'kind'>) => kind !== 'unresolved'

export const isReopening = ({ to_status, cause, attempt_id }: NewEvent) =>
  to_status === 'awaiting_payment' && cause === 'merchant' && attempt_id === null
