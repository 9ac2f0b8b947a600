import {
  messagesLike,
  type RecentMessage,
  recentMessage,
  recentMessages,
} from '../../actions/messages/recentMessages.ts'
import { malformed } from '../../core/interface/refusal.ts'
import { parseReference } from '../../core/payment/reference.ts'
import { shownState } from '../../core/message/message.ts'
import { mailboxOf } from '../../core/message/messageRules.ts'
import { parsePhone } from '../../core/phone.ts'
import { isPlainText } from '../../core/text.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { acceptsJson } from '../http/apiRequest.ts'
import type { Ctx } from '../http/context.ts'
import { shownRecipient } from './messageCard.tsx'

const defaultLimit = 20
const maxLimit = 100
const maxFilterLength = 254

type InboxDeps = { runtime: Pick<Runtime, 'db' | 'baseUrl'> }

// The inbox as JSON, for programs such as tests that read a mail.
export async function sendList({ runtime }: InboxDeps, c: Ctx) {
  const limit = readLimit(c.req.query('limit'))
  const [to, reference] = [filterOf(c, 'to'), filterOf(c, 'reference')]
  if (to === undefined && reference === undefined) {
    const { messages, older } = await recentMessages(runtime, c.req.query('before'), limit)
    return c.json({ messages: messages.map(messageData), older: older ?? null })
  }
  const filter = {
    mailbox: to === undefined ? undefined : readRecipient(to),
    name: reference === undefined ? undefined : (parseReference(reference) ?? reference),
  }
  const messages = await messagesLike(runtime, filter, limit)
  return c.json({ messages: messages.map(messageData), older: null })
}

// One message. There is no page for a single message: the list shows it.
export async function sendMessage({ runtime }: InboxDeps, c: Ctx) {
  if (!acceptsJson(c.req.header('accept'))) return c.notFound()
  const { merchant_id = '', message_id = '' } = c.req.param()
  const message = await recentMessage(runtime, { merchant_id, message_id })
  return message ? c.json(messageData(message)) : c.notFound()
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return defaultLimit
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > maxLimit) throw malformed('limit', `must be a number from 1 to ${maxLimit}`)
  return limit
}

function filterOf(c: Ctx, name: string): string | undefined {
  const text = c.req.query(name)?.trim()
  if (!text) return undefined
  if (text.length > maxFilterLength || !isPlainText(text)) throw malformed(name, 'is not a plain short text')
  return text
}

function readRecipient(to: string): string {
  const recipient = to.includes('@') ? to : parsePhone(to)
  if (recipient === undefined)
    throw malformed('to', 'is neither a possible phone number nor an email address')
  return mailboxOf(recipient)
}

// Clients depend on these names. A value that a message does not have is null.
const messageData = (message: RecentMessage) => ({
  id: message.message_id,
  merchant_id: message.merchant_id,
  kind: message.medium,
  topic: message.topic,
  mode: message.mode,
  to: shownRecipient(message),
  subject: message.mail?.subject ?? null,
  text: message.sms?.text ?? message.mail?.text ?? null,
  html: message.mail?.html ?? null,
  segments: message.sms?.segments ?? null,
  lang: message.lang,
  state: shownState(message),
  words: message.words,
  messenger: message.messenger,
  reference: message.tx_reference,
  invoice_id: message.invoice_id,
  created_at: message.created_at,
  sent_at: message.sent_at,
})
