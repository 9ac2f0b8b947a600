import type { IpnStyle } from '../merchant/settings.ts'
import type { Mode } from '../mode.ts'
import type { UntrustedUrl } from '../urlTrust.ts'
import type { NotificationKey } from './notification.ts'

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

const resultTexts: Record<Result, string> = {
  acknowledged: 'acknowledged',
  other_2xx: 'arrived, but not acknowledged',
  redirect: 'redirected, which is not followed',
  refused: 'refused by the endpoint',
  busy: 'the endpoint asked for a pause',
  server_error: 'the endpoint failed with a server error',
  bad_answer: 'the answer was not HTTP',
  timeout: 'no answer in time',
  no_connection: 'no connection',
  tls: 'no secure connection',
  name_not_found: 'no such host',
  forbidden_address: 'not sent: a forbidden address',
}

// A node of a newer version may have stored a result that this version does not have.
export const resultText = (result: Result): string => resultTexts[result] ?? result

const hints: Partial<Record<Result, string>> = {
  other_2xx:
    'other_2xx: arrived, but only status 200 acknowledges; it is sent again until the endpoint answers 200.',
  redirect:
    'redirect: redirects are not followed; set ipn_url to the final address (https, with or without www, ' +
    'the slash at the end).',
  forbidden_address:
    'forbidden_address: the address is not public, or its port is not allowed, so nothing was sent; for ' +
    'development see TOLLGATE_EGRESS_LOOPBACK, for ports TOLLGATE_EGRESS_PORTS.',
}

// What the merchant or the operator can do about these results, each hint once.
export const hintsFor = (all: readonly (Result | null)[]): string[] =>
  [...new Set(all)].flatMap(result => (result && hints[result]) ?? [])

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
