import { inboxName, type Message } from '../../core/message/message.ts'
import { named, type Tx } from '../db.ts'

// Those of these messages that have left the house, or still may.
export const findUnderWay = (tx: Tx, merchant_id: string, ids: readonly string[]) =>
  tx.rows<Pick<Message, 'medium' | 'recipient'>>(named('find_leaving_messages')`
    select medium, recipient from messages
    where merchant_id = ${merchant_id} and message_id = any(${ids}::text[])
      and state <> 'dropped' and messenger is distinct from ${inboxName}
    order by medium desc`)
