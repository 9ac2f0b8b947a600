import type { Sql } from 'sql-template-tag'
import type { Message, MessageKey } from '../../core/message/message.ts'
import type { MessageCounts } from '../../core/message/messageRules.ts'
import type { MessageUpdate } from '../../core/message/messageTries.ts'
import type { Medium, Receipt } from '../../core/message/messenger.ts'
import { type Db, named, sql, type Tx } from '../db.ts'
import { ofMerchants } from '../groupStatement.ts'
import { amongAll, ofReachableMerchants } from '../reachableMerchants.ts'
import { takeUnlocked } from '../skipLocked.ts'

export type MessageLease = { token: string; until: Date; now: Date }

// Leases due messages of one medium in one commit, before any of them is sent. If the node dies, they are due again when
// the lease ends, and the caps count the next try again. Rows that another node holds are skipped.
export const takeDueMessages = (db: Db, medium: Medium, lease: MessageLease, limit: number) =>
  takeUnlocked<MessageKey, Message>(db, {
    skipping: tx =>
      tx.rows(named('take_due_messages')`
        with due as (${selectDue(medium, lease, limit)} for update skip locked)
        ${takeRows(sql`due`, lease)}`),
    find: tx =>
      ofReachableMerchants(tx, among => tx.rows<MessageKey>(selectDue(medium, lease, limit, among))),
    waiting: (tx, keys) => tx.rows(takeRows(dueKeys(keys), lease, sql`and ${ofMerchants('m', keys)}`)),
  })

const selectDue = (medium: Medium, { now }: MessageLease, limit: number, among = amongAll) => sql`
  select merchant_id, message_id from messages
  where medium = ${medium} and next_try_at <= ${now} ${among.merchants('merchant_id')}
  order by next_try_at limit ${limit}`

const dueKeys = (keys: readonly MessageKey[]) => sql`
  unnest(${keys.map(k => k.merchant_id)}::text[], ${keys.map(k => k.message_id)}::text[])
    as due (merchant_id, message_id)`

const takeRows = (due: Sql, { token, until, now }: MessageLease, condition = sql``) => sql`
  update messages m set next_try_at = ${until}, lease_token = ${token}, tries = m.tries + 1, sent_at = null
  from ${due}
  where m.merchant_id = due.merchant_id and m.message_id = due.message_id and m.next_try_at <= ${now} ${condition}
  returning m.*`

// The messages to these mailboxes and of these merchants that were sent or are being sent since then. Messages in the
// inbox do not count.
export async function countMessages(
  tx: Tx,
  mailboxes: readonly string[],
  merchants: readonly string[],
  since: Date,
): Promise<MessageCounts> {
  const rows = await ofReachableMerchants(tx, among =>
    tx.rows<{ of: 'recipient' | 'merchant'; key: string; count: number }>(named(
      `count_messages${among.suffix}`,
    )`
    select 'recipient' as of, coalesce(mailbox, recipient) as key, count(*)::integer as count from messages
    where coalesce(mailbox, recipient) = any(${mailboxes}::text[]) and sent_at > ${since} and messenger <> 'inbox'
      ${among.merchants('merchant_id')}
    group by coalesce(mailbox, recipient)
    union all
    select 'merchant', merchant_id, count(*)::integer from messages
    where merchant_id = any(${merchants}::text[]) and sent_at > ${since} and messenger <> 'inbox'
      ${among.merchants('merchant_id')}
    group by merchant_id`),
  )
  const of = (kind: string) => {
    const counts = new Map<string, number>() // a recipient may be in the rows of several workers
    for (const row of rows) if (row.of === kind) counts.set(row.key, (counts.get(row.key) ?? 0) + row.count)
    return counts
  }
  return { recipients: of('recipient'), merchants: of('merchant') }
}

// `under_way` keeps the lease.
export type MessageResult = MessageKey &
  MessageUpdate &
  Pick<Message, 'messenger' | 'unanswered'> & { lease_token: string; under_way: boolean }

// Saves the results whose lease is still valid, and returns their keys.
export const saveMessageResults = (tx: Tx, results: readonly MessageResult[]) =>
  tx.rows<MessageKey>(named('save_message_results')`
    update messages m set state = r.state, words = r.words, next_try_at = r.next_try_at, sent_at = r.sent_at,
      provider_ref = r.provider_ref, ended_at = r.ended_at, messenger = r.messenger, unanswered = r.unanswered,
      lease_token = case when r.under_way then m.lease_token end
    from unnest(${results.map(r => r.merchant_id)}::text[], ${results.map(r => r.message_id)}::text[],
        ${results.map(r => r.lease_token)}::text[], ${results.map(r => r.state)}::text[],
        ${results.map(r => r.words)}::text[], ${results.map(r => r.next_try_at)}::timestamptz[],
        ${results.map(r => r.sent_at)}::timestamptz[], ${results.map(r => r.provider_ref)}::text[],
        ${results.map(r => r.ended_at)}::timestamptz[], ${results.map(r => r.messenger)}::text[],
        ${results.map(r => r.under_way)}::boolean[], ${results.map(r => r.unanswered)}::integer[])
      as r (merchant_id, message_id, lease_token, state, words, next_try_at, sent_at, provider_ref, ended_at,
        messenger, under_way, unanswered)
    where m.merchant_id = r.merchant_id and m.message_id = r.message_id and m.lease_token = r.lease_token
      and ${ofMerchants('m', results)}
    returning m.merchant_id, m.message_id`)

type ReceiptMessage = MessageKey & Pick<Message, 'recipient'> & { provider_ref: string; sent_at: Date }

// Providers reuse references now and then; the newest message with a reference is the right one. It comes last.
export const findSentMessages = async (tx: Tx, provider_refs: readonly string[], since: Date) => {
  const found = await ofReachableMerchants(tx, among =>
    tx.rows<ReceiptMessage>(named(`find_sent_messages${among.suffix}`)`
    select merchant_id, message_id, recipient, provider_ref, sent_at from messages
    where provider_ref = any(${provider_refs}::text[]) and sent_at > ${since} ${among.merchants('merchant_id')}
    order by sent_at`),
  )
  return found.toSorted((a, b) => a.sent_at.getTime() - b.sent_at.getTime())
}

export type MessageReceipt = MessageKey & Pick<Receipt, 'state'> & Pick<Message, 'words'>

// `delivered` outranks `lost`, whichever comes first.
export const saveReceipts = (tx: Tx, receipts: readonly MessageReceipt[], now: Date) =>
  tx.rows(named('save_receipts')`
    update messages m set words = r.words, ended_at = ${now},
      state = case r.state when 'delivered' then 'delivered' else m.state end
    from unnest(${receipts.map(r => r.merchant_id)}::text[], ${receipts.map(r => r.message_id)}::text[],
        ${receipts.map(r => r.state)}::text[], ${receipts.map(r => r.words)}::text[])
      as r (merchant_id, message_id, state, words)
    where m.merchant_id = r.merchant_id and m.message_id = r.message_id and m.state = 'sent'
      and ${ofMerchants('m', receipts)}`)
