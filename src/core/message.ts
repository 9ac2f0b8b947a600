import type { Medium } from './messenger.ts'
import type { Mode, Status } from './payment.ts'

// An SMS or an email to a person: one row of `messages`.
export type Message = {
  merchant_id: string
  message_id: string
  mode: Mode
  medium: Medium
  topic: Topic
  recipient: string
  lang: string
  tx_reference: string | null
  created_at: Date
  tries: number
  next_try_at: Date | null // null: it has ended
  lease_token: string | null
  state: 'queued' | 'sent' | 'delivered' | 'dropped'
  words: string // why it was dropped, or has to be tried again
  messenger: string | null
  provider_ref: string | null
  sent_at: Date | null
  ended_at: Date | null
}

// A customer hears how a payment ended; a merchant's contact, that notifications do not arrive.
export type Topic = Extract<Status, 'paid' | 'failed' | 'cancelled'> | 'exhausted'
