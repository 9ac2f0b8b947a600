import type { NotificationKey } from '../../core/notification/notification.ts'
import type { Db } from '../../store/db.ts'
import type { InlineLease, Sending } from '../../store/notifications/notifications.ts'

// Whoever carries notifications in this process, as those see it who write them.
export type InlineDispatch = {
  // Keeps room for those of them that could leave at once. Undefined when none could.
  reserve(sendings: readonly Sending[]): Reservation | undefined
  undispatched(): void // some were committed that nobody carries yet
}

export type Reservation = InlineLease & {
  confirm(leased: readonly NotificationKey[]): void // committed: these go now, and the room of the others is free
  release(): void // nothing was committed
  outcomeUnknown(): void // nobody knows whether it was
}

const carriers = new WeakMap<Db, InlineDispatch>()

export const inlineDispatchOn = (db: Db): InlineDispatch | undefined => carriers.get(db)

// From now on, until what it gives back is called.
export function setInlineDispatch(db: Db, carrier: InlineDispatch): () => void {
  carriers.set(db, carrier)
  return () => void carriers.delete(db)
}
