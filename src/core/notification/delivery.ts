import type { Lang } from '../languages/languages.ts'
import { deliveryTexts } from './deliveryTexts.ts'
import { createHmac } from 'node:crypto'
import { type IpnStyle, isOnOrigins } from '../merchant/settings.ts'
import type { Mode } from '../mode.ts'
import type { UntrustedUrl } from '../urlTrust.ts'
import { notificationId, type NotificationKey } from './notification.ts'

// A notification that is delivered to an address of the merchant: one row of `deliveries`.
export type Delivery = NotificationKey & {
  mode: Mode
  url: UntrustedUrl
  lane: string
  style: IpnStyle
  created_at: Date
  begun_at: Date // the schedule counts from here; a redelivery by an operator sets it again
  tries: number
  retry: boolean // has failed before, since it began
  parked: boolean
  alone: boolean // all other deliveries of its payment have ended
  last_try: number | null // removed after triesKeptMs
  last_try_at: Date | null
  last_result: Result | null
  next_try_at: Date | null // null: it has ended
  lease_token: string | null
  lease_until: Date | null
  acknowledged_at: Date | null
  exhausted_at: Date | null
}

// The signing keys and credentials of a merchant in one mode. The password is for style basic and these origins only.
export type Signer = {
  keys: readonly Buffer[]
  merchant_key: string
  password?: string
  passwordOrigins: readonly string[]
}

// A delivery to another origin is sent without the password. It was stored before the merchant chose style basic or
// changed its origins. The notification itself must not be lost, and the endpoint may accept it.
export const needsPassword = (
  { style, url }: Pick<Delivery, 'style' | 'url'>,
  { passwordOrigins }: Pick<Signer, 'passwordOrigins'>,
) => style === 'basic' && isOnOrigins(url, passwordOrigins)

// The signing key of a secret: the bytes behind its prefix.
export const signingKey = (secret: string) => Buffer.from(secret.replace(/^whsec_/, ''), 'base64')

export type IpnRequest = {
  method: 'POST' | 'GET'
  url: UntrustedUrl
  headers: Record<string, string>
  body?: string
}
type Sending = Pick<Delivery, 'merchant_id' | 'tx_reference' | 'sequence' | 'url' | 'style' | 'tries'> & {
  body: string
}

// One try of a delivery as an HTTP request. Headers follow the Standard Webhooks convention: a signature for every
// live secret, over the bytes that are sent.
export function ipnRequest(delivery: Sending, signer: Signer, now: Date): IpnRequest {
  const { keys, merchant_key, password } = signer
  const { style, url, sequence, tries } = delivery
  const body = style === 'get' ? '' : delivery.body
  const id = notificationId(delivery)
  const timestamp = String(Math.floor(now.getTime() / 1000))
  const headers: Record<string, string> = {
    'user-agent': 'Tollgate',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures(keys, `${id}.${timestamp}.${body}`),
    'webhook-attempt': String(tries),
    'webhook-sequence': String(sequence),
  }
  if (style === 'get') return { method: 'GET', url: withInvoice(url, delivery.body), headers }
  headers['content-type'] = 'application/json'
  if (password !== undefined && needsPassword(delivery, signer))
    headers.authorization = `Basic ${Buffer.from(`${merchant_key}:${password}`).toString('base64')}`
  return { method: 'POST', url, headers, body }
}

const signatures = (keys: readonly Buffer[], text: string) =>
  keys.map(key => `v1,${createHmac('sha256', key).update(text).digest('base64')}`).join(' ')

// The invoice is appended to the merchant's own query, which stays unchanged.
function withInvoice(text: UntrustedUrl, body: string): UntrustedUrl {
  const url = new URL(text)
  const { invoice_id } = JSON.parse(body) as { invoice_id: string }
  url.search = `${url.search ? `${url.search}&` : '?'}invoice_id=${encodeURIComponent(invoice_id)}`
  return url.href
}

// The result of one HTTP request. Only 200 acknowledges.
export const results = [
  'acknowledged',
  'other_2xx', // arrived, but not acknowledged as the contract requires
  'redirect', // never followed
  'refused', // any other 4xx
  'busy', // 429
  'server_error', // 5xx
  'bad_answer', // the answer was not HTTP
  'timeout',
  'no_connection', // refused, reset, unreachable
  'tls',
  'name_not_found',
  'forbidden_address',
] as const
export type Result = (typeof results)[number]

// The outcome of one request, from the HTTP client.
export type HttpOutcome = {
  status: number | null // null: no answer
  retry_after: string | null
  body: Buffer | null // the beginning of it
  address: string | null // the IP address of the connection
  failure: Extract<
    Result,
    'bad_answer' | 'timeout' | 'no_connection' | 'tls' | 'name_not_found' | 'forbidden_address'
  > | null
  error: string // the text of the failure, or empty
  ms: number
  first_byte_ms: number | null // from the call until the first byte was written; null if none was
}

export function resultOf({ status, failure }: Pick<HttpOutcome, 'status' | 'failure'>): Result {
  if (status === null) return failure ?? 'bad_answer'
  if (status === 200) return 'acknowledged'
  if (status >= 200 && status < 300) return 'other_2xx'
  if (status >= 300 && status < 400) return 'redirect'
  if (status === 429) return 'busy'
  return status >= 500 ? 'server_error' : 'refused'
}

// One HTTP request of a delivery, and its result.
export type Try = NotificationKey & {
  try: number
  started_at: Date
  ms: number
  address: string | null
  status: number | null
  result: Result
  words: string
  answer: Buffer | null // the beginning of the body
}

// Failures of the endpoint itself. They open the breaker of its lane.
const troubles: ReadonlySet<Result> = new Set([
  'busy',
  'server_error',
  'bad_answer',
  'timeout',
  'no_connection',
  'tls',
  'name_not_found',
  'forbidden_address',
])
export const isTrouble = (result: Result) => troubles.has(result)

// `none`: the notification has no delivery, because there was no address to send it to.
export const deliveryStates = ['due', 'acknowledged', 'exhausted', 'none'] as const
export type DeliveryState = (typeof deliveryStates)[number]

// What operators and merchants see of a delivery. Everything is null if there is none.
export type DeliverySummary = {
  [Name in
    | 'url'
    | 'style'
    | 'begun_at'
    | 'tries'
    | 'parked'
    | 'last_try_at'
    | 'last_result'
    | 'next_try_at'
    | 'lease_until'
    | 'acknowledged_at'
    | 'exhausted_at']: Delivery[Name] | null
}

export function deliveryState(
  delivery: Pick<DeliverySummary, 'url' | 'acknowledged_at' | 'exhausted_at'>,
): DeliveryState {
  if (delivery.url === null) return 'none'
  if (delivery.acknowledged_at) return 'acknowledged'
  return delivery.exhausted_at ? 'exhausted' : 'due'
}

export const isInFlight = ({ lease_until }: Pick<DeliverySummary, 'lease_until'>, now: Date) =>
  lease_until !== null && lease_until > now

type ResultTexts = { results: Record<Result, string>; hints: Partial<Record<Result, string>> }
const texts: Record<Lang, ResultTexts> = deliveryTexts

// A node of a newer version may have stored a result that this version does not have.
export const resultText = (result: Result, lang: Lang = 'en'): string => texts[lang].results[result] ?? result

// What the merchant or the operator can do about these results, each hint once.
export const hintsFor = (all: readonly (Result | null)[], lang: Lang = 'en'): string[] =>
  [...new Set(all)].flatMap(result => (result && texts[lang].hints[result]) ?? [])

export const triesKeptDays = 30
export const triesKeptMs = triesKeptDays * 86_400_000

type MissingTries = { lost: number[]; forgotten: number[] }

// Tries that were counted but are not stored. Those before the first stored one may have been removed for their age. A
// try in flight is not missing yet.
export function missingTries(
  delivery: Pick<DeliverySummary, 'tries' | 'lease_until'> & { created_at: Date },
  stored: readonly number[],
  now: Date,
): MissingTries {
  const last = (delivery.tries ?? 0) - (isInFlight(delivery, now) ? 1 : 0)
  const missing = Array.from({ length: last }, (_, at) => at + 1).filter(number => !stored.includes(number))
  const isOld = now.getTime() - delivery.created_at.getTime() > triesKeptMs
  const first = isOld ? Math.min(...stored, last + 1) : 0
  return {
    lost: missing.filter(number => number >= first),
    forgotten: missing.filter(number => number < first),
  }
}
