import type { NotificationKey } from '../../core/notification/notification.ts'
import type { Db } from '../../store/db.ts'
import type { InlineLease, NewDelivery } from '../../store/notifications/notifications.ts'

// The dispatcher of this process, as the transactions see it that write notifications. It can send a delivery right after
// the commit, without a poll.
export type InlineDispatch = {
  // Reserves slots for those that can be sent at once. Returns undefined if there is none.
  reserve(deliveries: readonly NewDelivery[]): Reservation | undefined
  undispatched(): void // deliveries were committed that have to be found by a poll
}

export type Reservation = InlineLease & {
  confirm(leased: readonly NotificationKey[]): void // committed: these are sent now, the other slots are free
  release(): void // not committed: all slots are free
  outcomeUnknown(): void // the connection was lost during the commit: nothing is sent
}

const dispatches = new WeakMap<Db, InlineDispatch>()

export const inlineDispatchOn = (db: Db): InlineDispatch | undefined => dispatches.get(db)

// Returns the function that removes it.
export function setInlineDispatch(db: Db, dispatch: InlineDispatch): () => void {
  dispatches.set(db, dispatch)
  return () => void dispatches.delete(db)
}
