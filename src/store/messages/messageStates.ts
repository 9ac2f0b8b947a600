import type { Message } from '../../core/message/message.ts'
import { sql, type Tx } from '../db.ts'
import type { MessagePlace } from './messageList.ts'

export type NamedMessage = Message & { merchant_name: string }

// `failed`: given up. `waiting`: queued, whether or not it was tried. `sent`: handed over to the messenger.
export const messageFilters = ['all', 'failed', 'waiting', 'sent'] as const
export type StateFilter = (typeof messageFilters)[number]

const conditions = {
  all: sql`true`,
  failed: sql`state = 'dropped'`,
  waiting: sql`next_try_at is not null`,
  sent: sql`state in ('sent', 'delivered')`,
}

// Newest first, from a place on.
export const messagesInState = (
  tx: Tx,
  filter: StateFilter,
  before: MessagePlace | undefined,
  limit: number,
) =>
  tx.rows<NamedMessage>(sql`
    select m.*, s.name as merchant_name from (
      select * from messages
      where ${conditions[filter]} and (created_at, message_id, merchant_id) <
        (${before?.created_at ?? 'infinity'}::timestamptz, ${before?.message_id ?? ''}, ${before?.merchant_id ?? ''})
      order by created_at desc, message_id desc, merchant_id desc limit ${limit}) as m
    join merchants s on s.merchant_id = m.merchant_id
    order by m.created_at desc, m.message_id desc, m.merchant_id desc`)
