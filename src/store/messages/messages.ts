import { mailboxOf } from '../../core/message/messageRules.ts'
import { inboxName, type Message, type MessageKey } from '../../core/message/message.ts'
import { ofMerchants, statementPart } from '../groupStatement.ts'
import { sql, type Tx } from '../db.ts'
import { paymentKeysOf, unnestPaymentKeys } from '../payments/paymentKeys.ts'

type NewMessage = Pick<
  Message,
  'merchant_id' | 'message_id' | 'mode' | 'medium' | 'topic' | 'recipient' | 'created_at' | 'next_try_at'
>
export type CustomerMessage = NewMessage & { tx_reference: string }
// `isKept`: it stays in the inbox and is not sent.
type WrittenMessage = CustomerMessage & { isKept: boolean }

// The language is that of the latest attempt. A payment without attempts has no customer to notify, so nothing is added.
// A message that was sent or is being tried stays as it is. A dropped or untried one, such as a failure message while the
// customer was trying again, is queued again when the payment reaches the status again.
export function customerMessages(all: readonly WrittenMessage[]) {
  const { merchants, references } = paymentKeysOf(all)
  return statementPart('written')`
    insert into messages as m (merchant_id, message_id, mode, medium, topic, recipient, lang, tx_reference,
      created_at, next_try_at, mailbox, state, messenger, tries, sent_at, ended_at)
    select added.merchant_id, added.message_id, added.mode, added.medium, added.topic, added.recipient,
      coalesce(latest.lang, 'en'), added.tx_reference, added.created_at,
      case when not added.kept then added.next_try_at end, added.mailbox,
      case when added.kept then 'sent' else 'queued' end, case when added.kept then ${inboxName} end,
      added.kept::integer, case when added.kept then added.created_at end,
      case when added.kept then added.created_at end
    from unnest(${merchants}::text[], ${references}::text[], ${all.map(m => m.message_id)}::text[],
        ${all.map(m => m.mode)}::text[], ${all.map(m => m.medium)}::text[],
        ${all.map(m => m.topic)}::text[], ${all.map(m => m.recipient)}::text[],
        ${all.map(m => m.created_at)}::timestamptz[], ${all.map(m => m.next_try_at)}::timestamptz[],
        ${all.map(m => mailboxOf(m.recipient))}::text[], ${all.map(m => m.isKept)}::boolean[])
        as added (merchant_id, tx_reference, message_id, mode, medium, topic, recipient, created_at, next_try_at,
          mailbox, kept)
      join (select distinct on (a.merchant_id, a.tx_reference) a.merchant_id, a.tx_reference, a.lang
          from ${unnestPaymentKeys(all)}
            join attempts a on a.merchant_id = k.merchant_id and a.tx_reference = k.tx_reference
              and ${ofMerchants('a', all)}
          order by a.merchant_id, a.tx_reference, a.number desc) as latest
        on latest.merchant_id = added.merchant_id and latest.tx_reference = added.tx_reference
    on conflict (merchant_id, message_id) do update
      set state = excluded.state, words = '', lang = excluded.lang, created_at = excluded.created_at,
        tries = excluded.tries, next_try_at = excluded.next_try_at, lease_token = null,
        messenger = excluded.messenger, sent_at = excluded.sent_at, ended_at = excluded.ended_at
      where m.state = 'dropped' or (m.state = 'queued' and m.tries = 0)`
}

export async function addCustomerMessages(tx: Tx, all: readonly CustomerMessage[]) {
  if (all.length > 0) await tx.rows(customerMessages(all.map(one => ({ ...one, isKept: false }))))
}

// A notice to the merchant's contact, without a payment. It is added once, whatever its result.
export const addNotice = (tx: Tx, n: NewMessage) =>
  tx.rows(sql`
    insert into messages (merchant_id, message_id, mode, medium, topic, recipient, mailbox, lang, created_at,
      next_try_at)
    values (${n.merchant_id}, ${n.message_id}, ${n.mode}, ${n.medium}, ${n.topic}, ${n.recipient}, ${mailboxOf(n.recipient)}, 'en',
      ${n.created_at}, ${n.next_try_at})
    on conflict (merchant_id, message_id) do nothing`)

// Deletes ended messages that are older, because they contain a person's address. Returns how many. The select first keeps
// a run without old messages free of writes.
export async function deleteOldMessages(tx: Tx, before: Date, limit: number): Promise<number> {
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
