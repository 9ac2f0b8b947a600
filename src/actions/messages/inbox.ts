import type { Db } from '../../store/db.ts'
import type { CustomerMessage } from '../../store/messages/messages.ts'

// Where messages stay that no messenger carries, as those see it who write them: such a message is there from the first,
// and nobody has to take it.
export type Inbox = {
  keeps(message: CustomerMessage): boolean
  written(messages: readonly CustomerMessage[]): void // by a commit
}

const inboxes = new WeakMap<Db, Inbox>()

export const inboxOn = (db: Db): Inbox | undefined => inboxes.get(db)

// From now on, until what it gives back is called.
export function keepInInboxFor(db: Db, inbox: Inbox): () => void {
  inboxes.set(db, inbox)
  return () => void inboxes.delete(db)
}
