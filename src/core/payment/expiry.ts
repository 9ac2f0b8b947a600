import { decimalsOf } from '../money.ts'
import type { MerchantSettings } from '../merchant/settings.ts'
import { reasons } from '../provider/reason.ts'
import { type Attempt, isUnresolved } from './attempt.ts'
import { type NewEvent, statusEvent, type Task } from './change.ts'
import type { StatusDecision } from './customerActs.ts'
import { obstacle } from './mayStart.ts'
import { move, type NewPayment, type Payment } from './payment.ts'

// The time of a payment is over: it fails. Never while an attempt is unresolved.
export function decideExpiry(
  payment: Payment,
  attempts: readonly Attempt[],
  now: Date,
): StatusDecision | undefined {
  if (payment.status !== 'awaiting_payment' || payment.expires_at > now) return undefined
  if (attempts.some(isUnresolved)) return undefined
  decimalsOf(payment.currency) // throws for a currency of a newer release: the notification would have a wrong amount
  const moved = move(payment, 'failed', reasons.expired, now)
  return moved && { payment: moved, events: [statusEvent(payment, moved, 'clock', null, now)] }
}

// Of one payment. Each reopening notifies the merchant, and a client that has a shop's form could repeat it for ever.
const maxReopenings = 30

type ReopenMerchant = {
  active: boolean
  settings: Pick<MerchantSettings, 'reopen_unpaid' | 'expiry_minutes' | 'retry_after_failure'>
}
type History = {
  attempts: readonly Attempt[]
  tasks: readonly Pick<Task, 'kind'>[]
  events: readonly NewEvent[]
}

// The payment was cancelled, or its time is over. A payment that failed earlier is retried on its page.
export const hasEndedUnpaid = (
  { status, expires_at }: Pick<NewPayment, 'status' | 'expires_at'>,
  now: Date,
) => status === 'cancelled' || (status !== 'paid' && expires_at <= now)

// The merchant sends the request of an unpaid, ended payment again: the customer may pay it now. Undefined if some money
// may have been taken already, or if no attempt could begin after the reopening.
export function decideReopen(
  payment: Payment,
  history: History,
  merchant: ReopenMerchant,
  now: Date,
): StatusDecision | undefined {
  const { settings } = merchant
  if (!settings.reopen_unpaid || payment.redacted_at || !hasEndedUnpaid(payment, now)) return undefined
  if (payment.charged !== null || history.attempts.some(mayHaveTaken) || history.tasks.some(isAboutMoney))
    return undefined
  if (history.events.filter(isReopening).length >= maxReopenings) return undefined
  const expires_at = new Date(now.getTime() + settings.expiry_minutes * 60_000)
  const open = { ...payment, expires_at, cancel_requested_at: null }
  const moved = move(open, 'awaiting_payment', '', now)
  const reopened = moved ?? { ...open, updated_at: now } // its time was over, but no worker had ended it yet
  const against = obstacle(reopened, history.attempts, merchant, now)
  if (against && against !== 'too_soon') return undefined
  return { payment: reopened, events: moved ? [statusEvent(payment, moved, 'merchant', null, now)] : [] }
}

// An attempt that an operator gave up may still have been paid.
const mayHaveTaken = (attempt: Attempt) =>
  isUnresolved(attempt) ||
  attempt.state === 'paid' ||
  attempt.charged !== null ||
  attempt.reason === 'given_up'

// `unresolved` means only that the provider gave no clear reply for a day. It has given one since.
const isAboutMoney = ({ kind }: Pick<Task, 'kind'>) => kind !== 'unresolved'

export const isReopening = ({ to_status, cause, attempt_id }: NewEvent) =>
  to_status === 'awaiting_payment' && cause === 'merchant' && attempt_id === null
