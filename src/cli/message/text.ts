import { maskRecipient } from '../../core/mask.ts'
import type { Message } from '../../core/message/message.ts'
import { withoutControls } from '../../core/timeline/history.ts'
import { dateTime, table } from '../terminal.ts'

// A message as programs read it.
export const messageData = (message: Message) => ({
  id: message.message_id,
  medium: message.medium,
  topic: message.topic,
  to: maskRecipient(message.recipient),
  lang: message.lang,
  state: message.state,
  words: message.words,
  messenger: message.messenger,
  tries: message.tries,
  next_try_at: message.next_try_at,
  created_at: message.created_at,
  sent_at: message.sent_at,
  ended_at: message.ended_at,
})

export const messageTable = (all: readonly Message[]) =>
  table(
    ['WRITTEN (UTC)', 'BY', 'ABOUT', 'TO', 'STATE', 'SENT BY', 'TRIES', 'WORDS'].map(title => ({
      title,
      right: title === 'TRIES',
    })),
    all.map(message => [
      dateTime(message.created_at).slice(0, 16),
      message.medium,
      message.topic,
      maskRecipient(message.recipient),
      message.state,
      message.messenger ?? '',
      String(message.tries),
      withoutControls(message.words),
    ]),
  )
