import type { MessageCounts } from '../../core/message/messageRules.ts'
import { named, sql, type Tx } from '../db.ts'

// What has left or is leaving since then, for these mailboxes and merchants. What stayed in the inbox of the house has
// reached nobody.
export async function countMessages(
  tx: Tx,
  mailboxes: readonly string[],
  merchants: readonly string[],
  since: Date,
): Promise<MessageCounts> {
  const rows = await tx.rows<{ of: 'recipient' | 'merchant'; key: string; count: number }>(named(
    'count_messages',
  )`
    select 'recipient' as of, coalesce(mailbox, recipient) as key, count(*)::integer as count from messages
    where coalesce(mailbox, recipient) = any(${mailboxes}::text[]) and sent_at > ${since} and messenger <> 'inbox'
    group by coalesce(mailbox, recipient)
    union all
    select 'merchant', merchant_id, count(*)::integer from messages
    where merchant_id = any(${merchants}::text[]) and sent_at > ${since} and messenger <> 'inbox'
    group by merchant_id`)
  const of = (kind: string) =>
    new Map(rows.filter(row => row.of === kind).map(({ key, count }) => [key, count]))
  return { recipients: of('recipient'), merchants: of('merchant') }
}

export type MessageStats = { queued: number; oldest_due_at: Date | null }

// For the operator. A message under way is due when its lease ends.
export const messageStats = async (tx: Tx, now: Date) =>
  (await tx.one<MessageStats>(sql`
    select count(*)::integer as queued, min(next_try_at) filter (where next_try_at <= ${now}) as oldest_due_at
    from messages where next_try_at is not null`)) as MessageStats
