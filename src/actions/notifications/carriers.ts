import type { NotificationKey } from '../../core/notification/notification.ts'
import type { Db } from '../../store/db.ts'
import type { Carriage, Sending } from '../../store/notifications/notifications.ts'

// Whoever carries notifications in this process, as those see it who write them.
export type Carrier = {
  // Keeps room for those of them that could leave at once. Undefined when none could.
  reserve(sendings: readonly Sending[]): Reservation | undefined
  left(): void // some were committed that nobody carries yet
}

export type Reservation = Carriage & {
  leave(leased: readonly NotificationKey[]): void // committed: these go now, and the room of the others is free
  giveBack(): void // nothing was committed
  doubt(): void // nobody knows whether it was
}

const carriers = new WeakMap<Db, Carrier>()

export const carrierOn = (db: Db): Carrier | undefined => carriers.get(db)

// From now on, until what it gives back is called.
export function carryFor(db: Db, carrier: Carrier): () => void {
  carriers.set(db, carrier)
  return () => void carriers.delete(db)
}
