import { SegmentedMessage } from 'sms-segments-calculator'
import { type MessageFacts, messageLink, type Mail } from '../../core/message/messageFacts.ts'
import type { MessageKey } from '../../core/message/message.ts'
import { exhaustedMail } from '../../core/message/texts/exhausted.ts'
import { septets } from '../../core/message/texts/gsm.ts'
import { mail } from '../../core/message/texts/mail.ts'
import { smsText } from '../../core/message/texts/sms.ts'
import { isPlainText } from '../../core/text.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import {
  findMessage,
  type ListedMessage,
  listMessages,
  listMessagesLike,
  type MessageFilter,
  type MessagePlace,
} from '../../store/messages/messageList.ts'
import { exhaustedFacts } from './exhaustedFacts.ts'

const pageLength = 100
const maxWord = 200 // of a place in the list
const lastYear = 9999

type Asking = Pick<Runtime, 'db' | 'baseUrl'>

// A message as its reader sees it; without either where there is nothing to tell any more.
export type RecentMessage = ListedMessage & { sms?: Sms; mail?: Mail }
export type Sms = { text: string; segments: number; places: number }

// Newest first; `older` is the place from which the list goes on.
export async function recentMessages(asking: Asking, before?: string, length = pageLength) {
  const found = await listMessages(asking.db, readPlace(before), length + 1)
  const shown = found.slice(0, length)
  const last = found.length > length ? shown.at(-1) : undefined
  const messages: RecentMessage[] = []
  for (const row of shown) messages.push(await rendered(asking, row))
  return { messages, older: last && placeOf(last) }
}

const mostLooked = 20_000

// The newest to somebody, or about a payment, by whichever spelling.
export async function messagesLike(asking: Asking, filter: MessageFilter, limit: number) {
  const found = await listMessagesLike(asking.db, filter, mostLooked, limit)
  const messages: RecentMessage[] = []
  for (const row of found) messages.push(await rendered(asking, row))
  return messages
}

export async function recentMessage(asking: Asking, key: MessageKey) {
  if (!isPlainText(key.merchant_id + key.message_id)) return undefined
  const row = await findMessage(asking.db, key)
  return row && rendered(asking, row)
}

async function rendered({ db, baseUrl }: Asking, row: ListedMessage): Promise<RecentMessage> {
  if (row.topic === 'exhausted') {
    const told = await exhaustedFacts(db, row, row.sent_at ?? row.created_at, baseUrl())
    return told ? { ...row, mail: exhaustedMail(told) } : row
  }
  const facts = factsOf(row, baseUrl())
  if (!facts) return row
  return row.medium === 'sms'
    ? { ...row, sms: counted(smsText(facts, row.lang)) }
    : { ...row, mail: mail(facts, row.lang) }
}

function counted(text: string): Sms {
  return { text, segments: new SegmentedMessage(text).segmentsCount, places: septets(text) }
}

function factsOf(row: ListedMessage, baseUrl: string): MessageFacts | undefined {
  const { topic, tx_reference } = row
  if (topic === 'exhausted' || row.tx_token === null || tx_reference === null) return undefined
  const link = messageLink(topic, baseUrl, row.tx_token)
  return { ...row, topic, tx_reference, amount: row.total, link }
}

const placeOf = ({ created_at, merchant_id, message_id }: MessagePlace) =>
  `${created_at.toISOString()}~${merchant_id}~${message_id}`

// What is no place is the beginning.
function readPlace(text = ''): MessagePlace | undefined {
  const [time = '', merchant_id, message_id, ...more] = text.slice(0, maxWord).split('~')
  if (!merchant_id || !message_id || more.length > 0 || !isPlainText(text)) return undefined
  const created_at = new Date(time)
  const year = created_at.getUTCFullYear() // a date may lie where the database knows none
  return year > 0 && year <= lastYear ? { created_at, merchant_id, message_id } : undefined
}
