import { readdirSync } from 'node:fs'
import type {
  MakeMessenger,
  Medium,
  Messenger,
  MessengerSettings,
  MessengerTools,
  OutboundMessage,
  Sent,
} from '../core/message/messenger.ts'
import { sanitizeSent } from '../core/message/sanitizeMessenger.ts'
import { cleanError } from '../core/text.ts'
import { type Timer, timerOf, withinDeadline } from './deadline.ts'

export type Messengers = {
  find(medium: Medium): NamedMessenger | undefined
  configured(medium: Medium): boolean
  close(): Promise<void>
}
export type NamedMessenger = { name: string; messenger: Messenger }

const deadline = timerOf(180_000) // longer than any messenger's own, which should come first
const maxUnderWay = 100 // letters of one messenger that wait for the other side
const maxWords = 1000 // of an error: enough to find the recipient in it; what is kept is shorter

const ourFolder = new URL('../messengers/', import.meta.url)

// The folder is the registry: every file in it is a messenger, named as the file is. What has no settings is not there;
// what is set up wrongly throws, so that it is told at the start. The first by name wins where two serve one medium.
export async function openMessengers(
  settings: MessengerSettings,
  tools: MessengerTools,
  folder = ourFolder,
): Promise<Messengers> {
  const open: NamedMessenger[] = []
  try {
    for (const file of readdirSync(folder).sort()) {
      const name = /^(\w+)\.[jt]s$/.exec(file)?.[1]
      if (!name) continue
      const { default: make } = (await import(new URL(file, folder).href)) as { default: MakeMessenger }
      const messenger = make(settings, tools)
      if (messenger) open.push({ name, messenger })
    }
  } catch (error) {
    await messengersOf(open).close()
    throw error
  }
  return messengersOf(open)
}

export function messengersOf(given: readonly NamedMessenger[], timer = deadline): Messengers {
  const messengers = given.map(({ name, messenger }) => ({ name, messenger: bounded(messenger, timer) }))
  const find = (medium: Medium) => messengers.find(({ messenger }) => messenger.medium === medium)
  return {
    find,
    configured: medium => find(medium) !== undefined,
    async close() {
      await Promise.allSettled(messengers.map(({ messenger }) => messenger.close()))
    },
  }
}

// A slow network must not fill the house with waiting letters, and a mistake of a messenger must not lose one: whatever
// is not clearly sent or refused is tried again. What the other side said leaves here fit to be written down.
function bounded(messenger: Messenger, timer: Timer): Messenger {
  let underWay = 0
  let closed = false
  return {
    medium: messenger.medium,
    async send(letter: OutboundMessage): Promise<Sent> {
      if (closed) return later('We are stopping.')
      if (underWay >= maxUnderWay) return later('Too many messages are under way.')
      underWay++
      try {
        return sanitizeSent(await withinDeadline(() => messenger.send(letter), timer, noAnswer))
      } catch (error) {
        return later(cleanError(error, maxWords))
      } finally {
        underWay--
      }
    },
    close() {
      closed = true
      return messenger.close()
    },
  }
}

const noAnswer = 'The messenger gave no answer.'
const later = (words: string): Sent => ({ state: 'later', words })
