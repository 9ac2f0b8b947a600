import { Locked, Unavailable } from '../../../core/interface/refusal.ts'
import type { NotificationKey } from '../../../core/notification/notification.ts'
import type { Db, Tx } from '../../../store/db.ts'
import type { CustomerMessage } from '../../../store/messages/messages.ts'
import { sendingsOf } from '../../../store/notifications/notifications.ts'
import { type Inbox, inboxOn } from '../../messages/inbox.ts'
import { type Carrier, carrierOn, type Reservation } from '../../notifications/carriers.ts'
import { messagesOf, type PaymentChange, writeOf } from './saveChange.ts'

// Writes all of it with the commit. Called once at most.
export type Write = (changes: readonly PaymentChange[]) => void

// Who tells others of what is decided, as far as they are in this process.
type Tellers = { carrier?: Carrier; inbox?: Inbox }

export const tellersOn = (db: Db): Tellers => ({ carrier: carrierOn(db), inbox: inboxOn(db) })

type Written = {
  sendings: number
  messages: readonly CustomerMessage[]
  reservation?: Reservation
  leased: Promise<NotificationKey[]>
}

// A transaction whose notifications leave this process as soon as it has committed, without being looked for, where
// somebody carries them who has room. The room is kept before they are written, because they are written with its lease.
// Work that was cut off runs again: what became of the first run is not known then, and nothing of it is sent.
export async function writing<T>(
  db: Db,
  tellers: Tellers,
  work: (tx: Tx, write: Write) => Promise<T>,
): Promise<T> {
  let written: Written | undefined
  const result = await db
    .transaction(tx => {
      if (written) doubt(tellers, written)
      written = undefined
      return work(tx, changes => void (written = writeLast(tx, tellers, changes)))
    })
    .catch((error: unknown) => {
      if (written && isUnknown(error)) doubt(tellers, written)
      else written?.reservation?.giveBack()
      throw error
    })
  if (written) await handOver(tellers, written)
  return result
}

function writeLast(tx: Tx, { carrier, inbox }: Tellers, changes: readonly PaymentChange[]) {
  const sendings = sendingsOf(changes.flatMap(({ news }) => news?.telling ?? []))
  const reservation = sendings.length > 0 ? carrier?.reserve(sendings) : undefined
  const write = writeOf(changes, reservation, inbox)
  const leased = write && tx.lastly<NotificationKey>(write)
  return leased && { sendings: sendings.length, messages: messagesOf(changes), reservation, leased }
}

async function handOver({ carrier, inbox }: Tellers, { sendings, messages, reservation, leased }: Written) {
  const carried = reservation ? await leased : []
  reservation?.leave(carried)
  if (carried.length < sendings) carrier?.left()
  if (messages.length > 0) inbox?.written(messages)
}

function doubt({ carrier }: Tellers, { reservation }: Written) {
  reservation?.doubt()
  carrier?.left()
}

const isUnknown = (error: unknown) => error instanceof Unavailable && !(error instanceof Locked)
