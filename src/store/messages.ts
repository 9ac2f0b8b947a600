import type { Message } from '../core/message.ts'
import type { Payment } from '../core/payment.ts'
import { named, sql, type Tx } from './db.ts'

type News = Pick<Message, 'topic' | 'created_at' | 'next_try_at'>
type Addressed = Pick<Message, 'message_id' | 'medium' | 'recipient'>

// In the language of the latest attempt. Without any attempt nothing is added: nobody was there to be told. What was
// sent or tried before stays as it is. What was not, because the customer was trying again or had not waited out the
// first minute, is queued anew when the status comes anew.
export const addCustomerMessages = (tx: Tx, p: Payment, news: News, messages: readonly Addressed[]) =>
  tx.rows(named('add_customer_messages')`
    insert into messages as m (merchant_id, message_id, mode, medium, topic, recipient, lang, tx_reference,
      created_at, next_try_at)
    select ${p.merchant_id}, told.message_id, ${p.mode}, told.medium, ${news.topic}, told.recipient,
      coalesce(latest.lang, 'en'), ${p.tx_reference}, ${news.created_at}::timestamptz,
      ${news.next_try_at}::timestamptz
    from (select lang from attempts where merchant_id = ${p.merchant_id} and tx_reference = ${p.tx_reference}
        order by number desc limit 1) as latest,
      unnest(${messages.map(m => m.message_id)}::text[], ${messages.map(m => m.medium)}::text[],
        ${messages.map(m => m.recipient)}::text[]) as told (message_id, medium, recipient)
    on conflict (merchant_id, message_id) do update
      set state = 'queued', words = '', lang = excluded.lang, created_at = excluded.created_at, tries = 0,
        next_try_at = excluded.next_try_at, lease_token = null, ended_at = null
      where m.state = 'dropped' or (m.state = 'queued' and m.tries = 0)`)

type Notice = Addressed & News & Pick<Message, 'merchant_id' | 'mode'>

// To somebody of the merchant, about no payment in particular; once, whatever became of it.
export const addNotice = (tx: Tx, n: Notice) =>
  tx.rows(sql`
    insert into messages (merchant_id, message_id, mode, medium, topic, recipient, lang, created_at, next_try_at)
    values (${n.merchant_id}, ${n.message_id}, ${n.mode}, ${n.medium}, ${n.topic}, ${n.recipient}, 'en',
      ${n.created_at}, ${n.next_try_at})
    on conflict (merchant_id, message_id) do nothing`)
