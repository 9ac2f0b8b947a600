import type { Sql } from 'sql-template-tag'
import type { Message, MessageKey } from '../../core/message/message.ts'
import type { Medium } from '../../core/message/messenger.ts'
import { type Db, named, sql } from '../db.ts'
import { ofMerchants } from '../groupStatement.ts'
import { takeUnlocked } from '../skipLocked.ts'

export type MessageLease = { token: string; until: Date; now: Date }

// Takes what is due of one medium in one commit, before anything is sent, and puts it off by a lease: when whoever took
// it dies, it comes back by itself. What a lost try may have sent is counted again by the next one. Nobody waits for a
// message that somebody else holds.
export const takeDueMessages = (db: Db, medium: Medium, lease: MessageLease, limit: number) =>
  takeUnlocked<MessageKey, Message>(db, {
    skipping: tx =>
      tx.rows(named('take_due_messages')`
        with due as (${dueOf(medium, lease, limit)} for update skip locked)
        ${take(sql`due`, lease)}`),
    find: tx => tx.rows(dueOf(medium, lease, limit)),
    waiting: (tx, keys) => tx.rows(take(keysOf(keys), lease, sql`and ${ofMerchants('m', keys)}`)),
  })

const dueOf = (medium: Medium, { now }: MessageLease, limit: number) => sql`
  select merchant_id, message_id from messages
  where medium = ${medium} and next_try_at <= ${now} order by next_try_at limit ${limit}`

const keysOf = (keys: readonly MessageKey[]) => sql`
  unnest(${keys.map(k => k.merchant_id)}::text[], ${keys.map(k => k.message_id)}::text[])
    as due (merchant_id, message_id)`

const take = (due: Sql, { token, until, now }: MessageLease, ofWhom = sql``) => sql`
  update messages m set next_try_at = ${until}, lease_token = ${token}, tries = m.tries + 1, sent_at = null
  from ${due}
  where m.merchant_id = due.merchant_id and m.message_id = due.message_id and m.next_try_at <= ${now} ${ofWhom}
  returning m.*`
