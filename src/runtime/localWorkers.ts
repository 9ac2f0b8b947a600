import type { NotificationKey } from '../core/notification/notification.ts'
import type { Payment } from '../core/payment/payment.ts'
import type { OpenedIdentity } from '../core/provider/accountIdentity.ts'
import type { CustomerMessage } from '../store/messages/messages.ts'
import type { InlineLease, NewDelivery } from '../store/notifications/notifications.ts'
import type { DueAttempt, PollLease } from '../store/payments/dueAttempts.ts'

// The workers of this process that can take over work at the moment of its commit, so that no worker has to find it by
// polling the database. main.ts creates this object empty; each worker sets its field when it starts and removes it when it
// stops. Without one, the work is written as due, and any node finds it.
export type LocalWorkers = {
  dispatch?: InlineDispatch
  inbox?: Inbox
  poller?: Poller
  observeStatuses?: ObserveStatuses // for the metrics, after each commit that changed payments
}

export type StatusChange = Record<'before' | 'after', Pick<Payment, 'status' | 'payment_method' | 'mode'>>
export type ObserveStatuses = (changes: readonly StatusChange[]) => void

// Sends notifications right after the commit that adds them.
export type InlineDispatch = {
  reserve(deliveries: readonly NewDelivery[]): Reservation | undefined // slots for some of them; undefined if none is free
  undispatched(): void // deliveries without a reservation were committed
}

// Slots for deliveries that are about to be committed, with the lease that their rows get.
export type Reservation = InlineLease & {
  confirm(leased: readonly NotificationKey[]): void // committed: these are sent now, and the remaining slots are released
  release(): void // nothing was committed
  outcomeUnknown(): void // the commit may or may not have happened
}

// Stores the customer messages that no messenger sends. They are inserted as sent.
export type Inbox = {
  keeps(message: CustomerMessage): boolean
  written(messages: readonly CustomerMessage[]): void // after their commit
}

// Polls attempts right after the commit of their callback.
export type Poller = {
  room(): number
  lease(now: Date): PollLease
  opened(): readonly OpenedIdentity[] // attempts of other accounts are left to other nodes
  poll(attempt: DueAttempt): void
}
