import { readdirSync } from 'node:fs'
import {
  type OutboundMessage,
  type Medium,
  type Messenger,
  type MessengerModule,
  type MessengerSettings,
  type MessengerTools,
  sanitizeResult,
  type SendResult,
} from '../core/message/messenger.ts'
import { cleanError } from '../core/text.ts'
import { type Timer, timerOf, withinDeadline } from './deadline.ts'

export type Messengers = {
  find(medium: Medium): NamedMessenger | undefined
  configured(medium: Medium): boolean
  close(): Promise<void>
}
export type NamedMessenger = { name: string; messenger: Messenger }

const deadline = timerOf(180_000) // longer than the messengers' own deadlines
const maxInFlight = 100 // messages of one messenger
const maxReason = 1000 // long enough to find the recipient in it; the stored text is shorter

const defaultFolder = new URL('../messengers/', import.meta.url)

// Every file in the folder is a messenger, and its name is that of the file. A messenger without settings is left out;
// wrong settings throw and stop the start. Of two messengers for one medium, the first by name is used.
export async function openMessengers(
  settings: MessengerSettings,
  tools: MessengerTools,
  folder = defaultFolder,
): Promise<Messengers> {
  const open: NamedMessenger[] = []
  try {
    for (const { name, module } of await modulesIn(folder)) {
      const read = module.readSettings(settings, tools)
      if (read !== undefined) open.push({ name, messenger: module.open(read, tools) })
    }
  } catch (error) {
    await messengersOf(open).close()
    throw error
  }
  return messengersOf(open)
}

async function modulesIn(folder: URL) {
  const files = readdirSync(folder)
    .sort()
    .flatMap(file => (/^(\w+)\.[jt]s$/.exec(file) ?? []).slice(1).map(name => ({ name, file })))
  return Promise.all(
    files.map(async ({ name, file }) => {
      const { default: module } = (await import(new URL(file, folder).href)) as { default: MessengerModule }
      return { name, module }
    }),
  )
}

// Whether the server of each configured messenger can be reached and accepts the login. Wrong settings are not its concern.
export async function checkMessengers(
  settings: MessengerSettings,
  deadlineMs: number,
  folder = defaultFolder,
) {
  const checks = (await modulesIn(folder)).map(async ({ name, module }) => {
    const read = readOrSkip(module, settings)
    const check = read === undefined ? undefined : await module.check?.(read, deadlineMs)
    return check && { name, ...check }
  })
  return (await Promise.all(checks)).filter(one => one !== undefined)
}

function readOrSkip(module: MessengerModule, settings: MessengerSettings) {
  try {
    return module.readSettings(settings, { warn: () => {}, receive: () => {} })
  } catch {
    return undefined
  }
}

export function messengersOf(open: readonly NamedMessenger[], timer = deadline): Messengers {
  const messengers = open.map(({ name, messenger }) => ({ name, messenger: bounded(messenger, timer) }))
  const find = (medium: Medium) => messengers.find(({ messenger }) => messenger.medium === medium)
  return {
    find,
    configured: medium => find(medium) !== undefined,
    async close() {
      await Promise.allSettled(messengers.map(({ messenger }) => messenger.close()))
    },
  }
}

// Limits the messages in flight, so that a slow network does not fill the memory. An exception or an invalid result of a
// messenger becomes a retry, so that no message is lost. Texts of the message provider are cleaned here.
function bounded(messenger: Messenger, timer: Timer): Messenger {
  let inFlight = 0
  let closed = false
  return {
    medium: messenger.medium,
    async send(message: OutboundMessage): Promise<SendResult> {
      if (closed) return retry('The gateway is stopping.')
      if (inFlight >= maxInFlight) return retry('Too many messages are in flight.')
      inFlight++
      try {
        return sanitizeResult(await withinDeadline(() => messenger.send(message), timer, noAnswer))
      } catch (error) {
        return retry(cleanError(error, maxReason))
      } finally {
        inFlight--
      }
    },
    close() {
      closed = true
      return messenger.close()
    },
  }
}

const noAnswer = 'The messenger did not answer.'
const retry = (reason: string): SendResult => ({ state: 'retry', reason })
