import { SegmentedMessage } from 'sms-segments-calculator'
import type { MessageKey } from '../../core/message/message.ts'
import { exhaustedMail } from '../../core/message/texts/exhausted.ts'
import { customerMail } from '../../core/message/texts/mail.ts'
import type { Mail } from '../../core/message/texts/mailLayout.ts'
import { septets, smsText } from '../../core/message/texts/sms.ts'
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
import { exhaustedFacts, customerFacts } from './compose.ts'

const pageLength = 100
const maxPlace = 200 // characters
const lastYear = 9999

type MessageSource = Pick<Runtime, 'db' | 'baseUrl'>

// A message with its text; without `sms` and `mail` if its payment or notifications are gone.
export type RecentMessage = ListedMessage & { sms?: Sms; mail?: Mail }
export type Sms = { text: string; segments: number; places: number }

// Newest first; `older` is the place of the next page.
export async function recentMessages(source: MessageSource, before?: string, length = pageLength) {
  const found = await listMessages(source.db, readMessagePlace(before), length + 1)
  const shown = found.slice(0, length)
  const last = found.length > length ? shown.at(-1) : undefined
  return { messages: await renderAll(source, shown), older: last && messagePlaceText(last) }
}

const maxSearched = 20_000

// The newest messages to a recipient or about a payment.
export async function messagesLike(source: MessageSource, filter: MessageFilter, limit: number) {
  return renderAll(source, await listMessagesLike(source.db, filter, maxSearched, limit))
}

async function renderAll(source: MessageSource, rows: readonly ListedMessage[]) {
  const messages: RecentMessage[] = []
  for (const row of rows) messages.push(await render(source, row))
  return messages
}

export async function recentMessage(source: MessageSource, key: MessageKey) {
  if (!isPlainText(key.merchant_id + key.message_id)) return undefined
  const row = await findMessage(source.db, key)
  return row && render(source, row)
}

async function render({ db, baseUrl }: MessageSource, row: ListedMessage): Promise<RecentMessage> {
  if (row.topic === 'exhausted') {
    const facts = await exhaustedFacts(db, row, row.sent_at ?? row.created_at, baseUrl())
    return facts ? { ...row, mail: exhaustedMail(facts) } : row
  }
  if (row.tx_token === null || row.tx_reference === null) return row
  const { topic, tx_reference } = row
  const facts = await customerFacts(db, { ...row, topic }, { ...row, tx_reference }, baseUrl())
  if (!facts) return row
  return row.medium === 'sms'
    ? { ...row, sms: countSegments(smsText(facts, row.lang)) }
    : { ...row, mail: customerMail(facts, row.lang) }
}

const countSegments = (text: string): Sms => ({
  text,
  segments: new SegmentedMessage(text).segmentsCount,
  places: septets(text),
})

export const messagePlaceText = ({ created_at, merchant_id, message_id }: MessagePlace) =>
  `${created_at.toISOString()}~${merchant_id}~${message_id}`

// Undefined, which is the first page, if the text is not a place.
export function readMessagePlace(text = ''): MessagePlace | undefined {
  const [time = '', merchant_id, message_id, ...more] = text.slice(0, maxPlace).split('~')
  if (!merchant_id || !message_id || more.length > 0 || !isPlainText(text)) return undefined
  const created_at = new Date(time)
  const year = created_at.getUTCFullYear() // PostgreSQL refuses dates far in the past or future
  return year > 0 && year <= lastYear ? { created_at, merchant_id, message_id } : undefined
}
