import type { Db } from '../../store/db.ts'
import {
  messageFilters,
  messagesInState,
  type NamedMessage,
  type StateFilter,
} from '../../store/messages/messageStates.ts'
import { messagePlaceText, readMessagePlace } from './recentMessages.ts'

const pageLength = 50

export { messageFilters, type NamedMessage, type StateFilter }

// One page of the messages in a state; `next` is the place of the next one.
export async function readMessagesInState(db: Db, filter: StateFilter, place: string | undefined) {
  const found = await messagesInState(db, filter, readMessagePlace(place), pageLength + 1)
  const messages = found.slice(0, pageLength)
  const last = found.length > pageLength ? messages.at(-1) : undefined
  return { messages, next: last && messagePlaceText(last) }
}
