import type { Message, MessageKey } from '../../core/message/message.ts'
import type { Receipt } from '../../core/message/messenger.ts'
import { named, type Tx } from '../db.ts'
import { ofMerchants } from '../groupStatement.ts'

type SentMessage = MessageKey & Pick<Message, 'recipient'> & { provider_ref: string; sent_at: Date }

// Providers number anew now and then: of several with the same reference, the newest is meant. It comes last.
export const findSent = (tx: Tx, provider_refs: readonly string[], since: Date) =>
  tx.rows<SentMessage>(named('find_sent_messages')`
    select merchant_id, message_id, recipient, provider_ref, sent_at from messages
    where provider_ref = any(${provider_refs}::text[]) and sent_at > ${since} order by sent_at`)

export type MessageReceipt = MessageKey & Pick<Receipt, 'state' | 'words'>

// That it arrived outranks that it was lost, whichever comes first.
export const saveReceipts = (tx: Tx, heard: readonly MessageReceipt[], now: Date) =>
  tx.rows(named('save_receipts')`
    update messages m set words = h.words, ended_at = ${now},
      state = case h.state when 'delivered' then 'delivered' else m.state end
    from unnest(${heard.map(h => h.merchant_id)}::text[], ${heard.map(h => h.message_id)}::text[],
        ${heard.map(h => h.state)}::text[], ${heard.map(h => h.words)}::text[])
      as h (merchant_id, message_id, state, words)
    where m.merchant_id = h.merchant_id and m.message_id = h.message_id and m.state = 'sent'
      and ${ofMerchants('m', heard)}`)
