import { mailboxOf } from '../../core/message/mailbox.ts'
import type { Message, MessageKey } from '../../core/message/message.ts'
import type { Ending } from '../../core/message/messageTries.ts'
import { named, sql, type Tx } from '../db.ts'
import { paymentKeysOf } from '../payments/paymentKeys.ts'

type News = Pick<Message, 'topic' | 'created_at' | 'next_try_at'>
type Addressed = Pick<Message, 'message_id' | 'medium' | 'recipient'>
export type CustomerMessage = News &
  Addressed &
  Pick<Message, 'merchant_id' | 'mode'> & { tx_reference: string }

// In the language of the latest attempt; without any attempt nothing is added, because nobody was there to be told. What
// was sent or is being tried stays as it is. What never went out, such as the news of a failure that came while the
// customer was trying again, is queued anew when the status comes anew.
export async function addCustomerMessages(tx: Tx, all: readonly CustomerMessage[]) {
  if (all.length === 0) return
  const { merchants, references } = paymentKeysOf(all)
  const statement = all.length <= 2 ? named('add_customer_messages') : sql // planned anew for many: tables grow
  await tx.rows(statement`
    insert into messages as m (merchant_id, message_id, mode, medium, topic, recipient, lang, tx_reference,
      created_at, next_try_at, mailbox)
    select told.merchant_id, told.message_id, told.mode, told.medium, told.topic, told.recipient,
      coalesce(latest.lang, 'en'), told.tx_reference, told.created_at, told.next_try_at, told.mailbox
    from unnest(${merchants}::text[], ${references}::text[], ${all.map(m => m.message_id)}::text[],
        ${all.map(m => m.mode)}::text[], ${all.map(m => m.medium)}::text[],
        ${all.map(m => m.topic)}::text[], ${all.map(m => m.recipient)}::text[],
        ${all.map(m => m.created_at)}::timestamptz[], ${all.map(m => m.next_try_at)}::timestamptz[],
        ${all.map(m => mailboxOf(m.recipient))}::text[])
        as told (merchant_id, tx_reference, message_id, mode, medium, topic, recipient, created_at, next_try_at,
          mailbox)
      join (select distinct on (a.merchant_id, a.tx_reference) a.merchant_id, a.tx_reference, a.lang
          from unnest(${merchants}::text[], ${references}::text[]) as k (merchant_id, tx_reference)
            join attempts a on a.merchant_id = k.merchant_id and a.tx_reference = k.tx_reference
          order by a.merchant_id, a.tx_reference, a.number desc) as latest
        on latest.merchant_id = told.merchant_id and latest.tx_reference = told.tx_reference
    on conflict (merchant_id, message_id) do update
      set state = 'queued', words = '', lang = excluded.lang, created_at = excluded.created_at, tries = 0,
        next_try_at = excluded.next_try_at, lease_token = null, ended_at = null
      where m.state = 'dropped' or (m.state = 'queued' and m.tries = 0)`)
}

type Notice = Addressed & News & Pick<Message, 'merchant_id' | 'mode'>

// To somebody of the merchant, about no payment in particular; once, whatever became of it.
export const addNotice = (tx: Tx, n: Notice) =>
  tx.rows(sql`
    insert into messages (merchant_id, message_id, mode, medium, topic, recipient, mailbox, lang, created_at,
      next_try_at)
    values (${n.merchant_id}, ${n.message_id}, ${n.mode}, ${n.medium}, ${n.topic}, ${n.recipient}, ${mailboxOf(n.recipient)}, 'en',
      ${n.created_at}, ${n.next_try_at})
    on conflict (merchant_id, message_id) do nothing`)

// How a message stands now. `under_way` keeps its lease.
export type MessageResult = MessageKey &
  Ending &
  Pick<Message, 'messenger' | 'unanswered'> & { lease_token: string; under_way: boolean }

// Accepted only with the lease of the try; gives back what was.
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
    returning m.merchant_id, m.message_id`)

// What left and is older goes: it has a person's address in it. Gives back how many there were.
export const forgetMessages = async (tx: Tx, before: Date, limit: number) =>
  (
    await tx.rows(sql`
      delete from messages where (merchant_id, message_id) in (
        select merchant_id, message_id from messages
        where created_at < ${before} and next_try_at is null limit ${limit})
      returning 1`)
  ).length
