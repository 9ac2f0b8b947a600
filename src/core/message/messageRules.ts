import type { Status } from '../payment/payment.ts'
import { mailboxOf } from './mailbox.ts'
import type { Message } from './message.ts'
import { lateWords, maxUnanswered, messageWindowMs, unansweredWords } from './messageTries.ts'
import type { Medium } from './messenger.ts'

export const capWindowMs = 24 * 3_600_000

export type MessageRules = {
  smsPrefixes: readonly string[]
  perRecipient: number // in 24 hours; 0 is none
  perMerchant: number
}

// Why a message that is due is not sent after all. Things may have changed since it was queued.
export function whyNot(
  message: Pick<Message, 'created_at' | 'medium' | 'topic' | 'recipient' | 'unanswered'>,
  status: Status | undefined, // of its payment, now
  { smsPrefixes }: Pick<MessageRules, 'smsPrefixes'>,
  now: Date,
): string | undefined {
  const { created_at, medium, topic, recipient, unanswered } = message
  if (now.getTime() - created_at.getTime() >= messageWindowMs) return lateWords
  if (unanswered >= maxUnanswered) return unansweredWords
  if (topic !== 'exhausted' && status !== topic)
    return status ? `The payment is ${status} by now.` : 'There is no such payment.'
  if (!isReachable(medium, recipient, smsPrefixes))
    return 'The number begins with none of the allowed prefixes.'
  return undefined
}

// An SMS to the other end of the world is dear, and a favourite of thieves.
export const isReachable = (medium: Medium, recipient: string, smsPrefixes: readonly string[]) =>
  medium !== 'sms' || smsPrefixes.some(prefix => recipient.startsWith(prefix))

// How many messages have left, or are leaving, within the window. A recipient counts as the mailbox behind the address.
export type MessageCounts = { recipients: Map<string, number>; merchants: Map<string, number> }
type Counted = Pick<Message, 'recipient' | 'merchant_id'>

// Takes one place under both caps; the words when one of them has none.
export function takePlace(counts: MessageCounts, message: Counted, rules: MessageRules): string | undefined {
  const { recipients, merchants } = counts
  const mailbox = mailboxOf(message.recipient)
  const ofRecipient = recipients.get(mailbox) ?? 0
  const ofMerchant = merchants.get(message.merchant_id) ?? 0
  if (ofRecipient >= rules.perRecipient)
    return `The recipient has had all the messages of 24 hours: ${rules.perRecipient}.`
  if (ofMerchant >= rules.perMerchant)
    return `The merchant has sent all the messages of 24 hours: ${rules.perMerchant}.`
  recipients.set(mailbox, ofRecipient + 1)
  merchants.set(message.merchant_id, ofMerchant + 1)
  return undefined
}

// Of those that have taken their places, the ones that have to give them back: others took places at the same time.
export function tooMany<M extends Counted>(taken: readonly M[], counts: MessageCounts, rules: MessageRules) {
  const recipients = new Map(counts.recipients)
  const merchants = new Map(counts.merchants)
  return taken.toReversed().filter(({ recipient, merchant_id }) => {
    const mailbox = mailboxOf(recipient)
    const ofRecipient = recipients.get(mailbox) ?? 0
    const ofMerchant = merchants.get(merchant_id) ?? 0
    if (ofRecipient <= rules.perRecipient && ofMerchant <= rules.perMerchant) return false
    recipients.set(mailbox, ofRecipient - 1)
    merchants.set(merchant_id, ofMerchant - 1)
    return true
  })
}
