import type { Mode } from '../mode.ts'
import type { Currency } from '../money.ts'
import type { Topic } from './message.ts'

// What a person is told by SMS or email is made from these facts alone.
export type MessageFacts = {
  topic: Exclude<Topic, 'exhausted'>
  mode: Mode
  merchant_name: string
  amount: bigint // minor units
  currency: Currency
  tx_reference: string
  invoice_id: string
  description: string | null
  status_reason: string
  payment_method: string | null
  payment_time: Date | null
  link: string
}

// Where a message leads: to the receipt, which stays, or to the payment's page, which shows what can be done.
export const messageLink = (topic: MessageFacts['topic'], baseUrl: string, tx_token: string) =>
  `${baseUrl}/checkout/${tx_token}${topic === 'paid' ? '/receipt' : ''}`

// To the merchant's contact: these notifications could not be delivered.
export type ExhaustedFacts = {
  merchant_name: string
  count: number
  since: Date
  examples: { id: string; url: string; last_result: string; words: string }[]
  link: string
}

export type Mail = { subject: string; text: string; html: string }
