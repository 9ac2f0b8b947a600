import { Locked, Unavailable } from '../../../core/interface/refusal.ts'
import type { NotificationKey } from '../../../core/notification/notification.ts'
import type { Db, Tx } from '../../../store/db.ts'
import type { CustomerMessage } from '../../../store/messages/messages.ts'
import { newDeliveriesOf } from '../../../store/notifications/notifications.ts'
import { type Inbox, inboxOn } from '../../messages/inbox.ts'
import {
  type InlineDispatch,
  inlineDispatchOn,
  type Reservation,
} from '../../notifications/inlineDispatch.ts'
import { messagesOf, type PaymentChange, writeOf } from './saveChange.ts'

// Writes all of it with the commit. Called once at most.
export type Write = (changes: readonly PaymentChange[]) => void

// Who tells others of what is decided, as far as they are in this process.
type Writers = { dispatch?: InlineDispatch; inbox?: Inbox }

export const writersOn = (db: Db): Writers => ({ dispatch: inlineDispatchOn(db), inbox: inboxOn(db) })

type Written = {
  sendings: number
  messages: readonly CustomerMessage[]
  reservation?: Reservation
  leased: Promise<NotificationKey[]>
}

// A transaction whose notifications leave this process as soon as it has committed, without being looked for, where
// somebody carries them who has room. The room is kept before they are written, because they are written with its lease.
// Work that was cut off runs again: what became of the first run is not known then, and nothing of it is sent.
export async function writeChanges<T>(
  db: Db,
  tellers: Writers,
  work: (tx: Tx, write: Write) => Promise<T>,
): Promise<T> {
  let written: Written | undefined
  const result = await db
    .transaction(tx => {
      if (written) reportUnknownOutcome(tellers, written)
      written = undefined
      return work(tx, changes => void (written = writeLast(tx, tellers, changes)))
    })
    .catch((error: unknown) => {
      if (written && isUnknown(error)) reportUnknownOutcome(tellers, written)
      else written?.reservation?.release()
      throw error
    })
  if (written) await dispatchWritten(tellers, written)
  return result
}

function writeLast(tx: Tx, { dispatch: carrier, inbox }: Writers, changes: readonly PaymentChange[]) {
  const sendings = newDeliveriesOf(changes.flatMap(({ update: news }) => news?.notification ?? []))
  const reservation = sendings.length > 0 ? carrier?.reserve(sendings) : undefined
  const write = writeOf(changes, reservation, inbox)
  const leased = write && tx.writeWithCommit<NotificationKey>(write)
  return leased && { sendings: sendings.length, messages: messagesOf(changes), reservation, leased }
}

async function dispatchWritten(
  { dispatch: carrier, inbox }: Writers,
  { sendings, messages, reservation, leased }: Written,
) {
  const carried = reservation ? await leased : []
  reservation?.confirm(carried)
  if (carried.length < sendings) carrier?.undispatched()
  if (messages.length > 0) inbox?.written(messages)
}

function reportUnknownOutcome({ dispatch: carrier }: Writers, { reservation }: Written) {
  reservation?.outcomeUnknown()
  carrier?.undispatched()
}

const isUnknown = (error: unknown) => error instanceof Unavailable && !(error instanceof Locked)
