import type { Status } from '../payment/payment.ts'
import { readUrl } from '../text.ts'
import type { Message } from './message.ts'
import { expiredReason, maxUnanswered, messageWindowMs, unansweredReason } from './messageTries.ts'
import type { Medium } from './messenger.ts'

export const capWindowMs = 24 * 3_600_000

export type MessageRules = {
  smsPrefixes: readonly string[]
  perRecipient: number // in 24 hours; 0 allows none
  perMerchant: number
}

// Why a message that is due is dropped: the payment or the rules may have changed since it was queued.
export function whyDropped(
  message: Pick<Message, 'created_at' | 'medium' | 'topic' | 'recipient' | 'unanswered'>,
  status: Status | undefined, // of its payment, now
  { smsPrefixes }: Pick<MessageRules, 'smsPrefixes'>,
  now: Date,
): string | undefined {
  const { created_at, medium, topic, recipient, unanswered } = message
  if (now.getTime() - created_at.getTime() >= messageWindowMs) return expiredReason
  if (unanswered >= maxUnanswered) return unansweredReason
  if (topic === 'refunded' ? !status : topic !== 'exhausted' && status !== topic)
    return status ? `The payment is ${status} by now.` : 'There is no such payment.'
  if (!isReachable(medium, recipient, smsPrefixes))
    return 'The number begins with none of the allowed prefixes.'
  return undefined
}

// SMS to other countries are expensive and a target of SMS pumping.
export const isReachable = (medium: Medium, recipient: string, smsPrefixes: readonly string[]) =>
  medium !== 'sms' || smsPrefixes.some(prefix => recipient.startsWith(prefix))

// How many messages were sent or are being sent within the window, by mailbox and by merchant.
export type MessageCounts = { recipients: Map<string, number>; merchants: Map<string, number> }
type CountedMessage = Pick<Message, 'recipient' | 'merchant_id'>

// Counts one more message under both caps. Returns the reason if a cap is reached, and counts nothing then.
export function countUnderCaps(
  counts: MessageCounts,
  message: CountedMessage,
  rules: MessageRules,
): string | undefined {
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

// Those of the counted messages that exceed a cap after all, because other nodes counted at the same time.
export function overCaps<M extends CountedMessage>(
  taken: readonly M[],
  counts: MessageCounts,
  rules: MessageRules,
) {
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

const domainsWithoutDots = new Set(['gmail.com', 'googlemail.com'])

// One spelling of each mailbox, for counting only; messages are sent to the address of the request. Most mail servers ignore
// case and a +tag, and Gmail ignores dots. On a server that does not, two mailboxes share one count. A phone number has
// one spelling already.
export function mailboxOf(recipient: string): string {
  const at = recipient.lastIndexOf('@')
  if (at < 0) return recipient
  const domain = domainOf(recipient.slice(at + 1))
  const local = recipient
    .slice(0, at)
    .normalize('NFC')
    .toLowerCase()
    .replace(/(?!^)\+.*$/s, '')
  return domainsWithoutDots.has(domain) ? `${local.replaceAll('.', '')}@gmail.com` : `${local}@${domain}`
}

// In its ASCII form if it is a valid host name.
function domainOf(text: string): string {
  const url = /[/?#:@[\]\\]/.test(text) ? undefined : readUrl(`http://${text}`)
  return url?.hostname ?? text.normalize('NFC').toLowerCase()
}
