import type { Message } from '../../core/message/message.ts'
import type { Messenger, OutboundMessage, Sent } from '../../core/message/messenger.ts'
import { cleanError } from '../../core/text.ts'

const maxWords = 1000

// One try. Whatever goes wrong here is no answer of the network's, so it is tried again.
export async function sendOne(
  messenger: Messenger,
  write: () => Promise<OutboundMessage | undefined>,
): Promise<Sent> {
  try {
    const letter = await write()
    if (!letter) return { state: 'never', words: 'There is nothing to tell any more.' }
    return await messenger.send(letter)
  } catch (error) {
    return { state: 'later', words: cleanError(error, maxWords) }
  }
}

// What the operator may know: never who the recipient is, nor what was said.
export type SeenMessage = Pick<
  Message,
  'merchant_id' | 'message_id' | 'mode' | 'medium' | 'topic' | 'words'
> & { outcome: MessageOutcome }
export const messageOutcomes = ['sent', 'kept', 'later', 'dropped'] as const // kept: in the inbox of the house
export type MessageOutcome = (typeof messageOutcomes)[number]

export function seen(
  message: Omit<SeenMessage, 'outcome' | 'words'>,
  outcome: MessageOutcome,
  words: string,
): SeenMessage {
  const { merchant_id, message_id, mode, medium, topic } = message
  return { merchant_id, message_id, mode, medium, topic, words, outcome }
}
