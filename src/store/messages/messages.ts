import { mailboxOf } from '../../core/message/mailbox.ts'
import { inboxName, type Message, type MessageKey } from '../../core/message/message.ts'
import type { Ending } from '../../core/message/messageTries.ts'
import { named, sql, type Tx } from '../db.ts'
import { ofMerchants, statementPart } from '../groupStatement.ts'
import { paymentKeysOf } from '../payments/paymentKeys.ts'

type News = Pick<Message, 'topic' | 'created_at' | 'next_try_at'>
type Addressed = Pick<Message, 'message_id' | 'medium' | 'recipient'>
export type CustomerMessage = News &
  Addressed &
  Pick<Message, 'merchant_id' | 'mode'> & { tx_reference: string }
// Kept: in the inbox of the house, and nobody has to send it.
type WrittenMessage = CustomerMessage & { isKept: boolean }

// In the language of the latest attempt; without any attempt nothing is added, because nobody was there to be told. What
// was sent or is being tried stays as it is. What never went out, such as the news of a failure that came while the
// customer was trying again, is queued anew when the status comes anew.
export function customerMessages(all: readonly WrittenMessage[]) {
  const { merchants, references } = paymentKeysOf(all)
  return statementPart('written')`
    insert into messages as m (merchant_id, message_id, mode, medium, topic, recipient, lang, tx_reference,
      created_at, next_try_at, mailbox, state, messenger, tries, sent_at, ended_at)
    select told.merchant_id, told.message_id, told.mode, told.medium, told.topic, told.recipient,
      coalesce(latest.lang, 'en'), told.tx_reference, told.created_at,
      case when not told.kept then told.next_try_at end, told.mailbox,
      case when told.kept then 'sent' else 'queued' end, case when told.kept then ${inboxName} end,
      told.kept::integer, case when told.kept then told.created_at end,
      case when told.kept then told.created_at end
    from unnest(${merchants}::text[], ${references}::text[], ${all.map(m => m.message_id)}::text[],
        ${all.map(m => m.mode)}::text[], ${all.map(m => m.medium)}::text[],
        ${all.map(m => m.topic)}::text[], ${all.map(m => m.recipient)}::text[],
        ${all.map(m => m.created_at)}::timestamptz[], ${all.map(m => m.next_try_at)}::timestamptz[],
        ${all.map(m => mailboxOf(m.recipient))}::text[], ${all.map(m => m.isKept)}::boolean[])
        as told (merchant_id, tx_reference, message_id, mode, medium, topic, recipient, created_at, next_try_at,
          mailbox, kept)
      join (select distinct on (a.merchant_id, a.tx_reference) a.merchant_id, a.tx_reference, a.lang
          from unnest(${merchants}::text[], ${references}::text[]) as k (merchant_id, tx_reference)
            join attempts a on a.merchant_id = k.merchant_id and a.tx_reference = k.tx_reference
              and ${ofMerchants('a', all)}
          order by a.merchant_id, a.tx_reference, a.number desc) as latest
        on latest.merchant_id = told.merchant_id and latest.tx_reference = told.tx_reference
    on conflict (merchant_id, message_id) do update
      set state = excluded.state, words = '', lang = excluded.lang, created_at = excluded.created_at,
        tries = excluded.tries, next_try_at = excluded.next_try_at, lease_token = null,
        messenger = excluded.messenger, sent_at = excluded.sent_at, ended_at = excluded.ended_at
      where m.state = 'dropped' or (m.state = 'queued' and m.tries = 0)`
}

export async function addCustomerMessages(tx: Tx, all: readonly CustomerMessage[]) {
  if (all.length > 0) await tx.rows(customerMessages(all.map(one => ({ ...one, isKept: false }))))
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
      and ${ofMerchants('m', results)}
    returning m.merchant_id, m.message_id`)

// What left and is older goes: it has a person's address in it. Gives back how many there were. On most days there is
// nothing to find, and nothing is written.
export async function forgetMessages(tx: Tx, before: Date, limit: number): Promise<number> {
  const found = await tx.rows<MessageKey>(sql`
    select merchant_id, message_id from messages
    where created_at < ${before} and next_try_at is null limit ${limit}`)
  if (found.length === 0) return 0
  return tx.count(sql`
    delete from messages m
    using unnest(${found.map(m => m.merchant_id)}::text[], ${found.map(m => m.message_id)}::text[])
      as k (merchant_id, message_id)
    where m.merchant_id = k.merchant_id and m.message_id = k.message_id and m.created_at < ${before}
      and m.next_try_at is null and ${ofMerchants('m', found)}`)
}
