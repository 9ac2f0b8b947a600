import type { Pause } from '../databaseClock.ts'
import { cleanId, cleanText } from '../text.ts'

// The interface of messengers, which send SMS or email. The default export of each file in `messengers/` is a
// `MessengerModule`.
export type Medium = 'sms' | 'email'

export type MessengerModule<Settings = unknown> = {
  // Undefined if the settings of this messenger are not set. Throws if they are wrong. Connects to nothing.
  readSettings(environment: MessengerSettings, tools: MessengerTools): Settings | undefined
  open(settings: Settings, tools: MessengerTools): Messenger
  // For `tollgate doctor`: connects and logs in as far as the protocol permits without a message, and disconnects.
  check?(settings: Settings, deadlineMs: number): Promise<MessengerCheck>
}

// `server` is a host and a port. `why` contains no secret.
export type MessengerCheck = {
  server: string
  reached: string // what was tried, if nothing failed: "accepts the login"
  failed?: { step: 'DNS' | 'connect' | 'TLS' | 'greeting' | 'login'; why: string }
}

export type Messenger = {
  medium: Medium
  send(message: OutboundMessage): Promise<SendResult>
  close(): Promise<void>
}

export type MessengerSettings = Readonly<Record<string, string | undefined>>
export type MessengerTools = {
  clock?(): Date // this machine's by default
  receive(receipt: Receipt): void // a delivery receipt of the network
  pause?: Pause // nothing is connected meanwhile: receipts of a copy's messages are for the original
  warn(text: string): void // for the operator's log; never a recipient or a message text
}

// `id` is the same in every try.
export type OutboundMessage = {
  id: string
  to: string // an E.164 number or an email address
  text: string
  subject: string // of an email
  html: string // of an email
}

// `sent`: the other side has accepted it. `retry`: it was not accepted, or that is unknown. `rejected`: the other side
// refused it for good.
export type SendResult =
  | { state: 'sent'; provider_ref?: string }
  | { state: 'retry'; reason: string; afterMs?: number }
  | { state: 'rejected'; reason: string }

export type Receipt = { provider_ref: string; state: 'delivered' | 'lost'; reason: string }

const maxReason = 1000 // enough to find the recipient in it; what is stored is shorter
const maxAfterMs = 24 * 3_600_000

// The result of a messenger, made fit for the database. Anything that is not a valid result is a retry.
export function sanitizeResult(value: unknown): SendResult {
  const { state, reason, provider_ref, afterMs } = fieldsOf(value)
  if (state === 'sent') {
    const id = cleanId(provider_ref)
    return id === undefined ? { state } : { state, provider_ref: id }
  }
  if (state === 'rejected') return { state, reason: reasonOf(reason) }
  if (state === 'retry')
    return {
      state,
      reason: reasonOf(reason),
      ...(isDuration(afterMs) && { afterMs: Math.min(afterMs, maxAfterMs) }),
    }
  return { state: 'retry', reason: `The messenger answered ${cleanText(state ?? value, 40)}.` }
}

// Undefined if it is not a valid receipt.
export function sanitizeReceipt(value: unknown): Receipt | undefined {
  const { state, reason, provider_ref } = fieldsOf(value)
  const id = cleanId(provider_ref)
  if (id === undefined || (state !== 'delivered' && state !== 'lost')) return undefined
  return { provider_ref: id, state, reason: reasonOf(reason) }
}

const fieldsOf = (value: unknown) =>
  (typeof value === 'object' && value !== null ? value : {}) as Readonly<Record<string, unknown>>

const reasonOf = (reason: unknown) =>
  reason === undefined || reason === null ? '' : cleanText(reason, maxReason)

const isDuration = (ms: unknown): ms is number => typeof ms === 'number' && Number.isFinite(ms) && ms >= 0
