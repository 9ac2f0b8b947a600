import type { IpnStyle } from '../merchant/settings.ts'
import type { Mode } from '../mode.ts'
import type { NotificationKey } from './notification.ts'
import type { UntrustedUrl } from '../urlTrust.ts'

// The journey of a notification to the merchant's address: one row of `deliveries`.
export type Delivery = NotificationKey & {
  mode: Mode
  url: UntrustedUrl
  lane: string
  style: IpnStyle
  created_at: Date
  begun_at: Date // the schedule counts from here; a delivery by hand begins anew
  tries: number
  retry: boolean // has failed before, since it began
  parked: boolean
  alone: boolean // true when no other delivery of its payment has not ended
  last_try: number | null // what it was is forgotten after triesKeptMs
  last_try_at: Date | null
  last_result: Result | null
  next_try_at: Date | null // null: it has ended
  lease_token: string | null
  lease_until: Date | null
  acknowledged_at: Date | null
  exhausted_at: Date | null
}

// What came of one HTTP request, as a word to count and to read. Only 200 acknowledges.
export const results = [
  'acknowledged',
  'other_2xx', // arrived, but not said so as the contract asks
  'redirect', // never followed
  'refused', // any other 4xx
  'busy', // 429
  'server_error', // 5xx
  'bad_answer', // what came back was not HTTP
  'timeout',
  'no_connection', // refused, reset, unreachable
  'tls',
  'name_not_found',
  'forbidden_address',
] as const
export type Result = (typeof results)[number]

// What the network made of a request. Times are of the wall clock.
export type HttpOutcome = {
  status: number | null // null: none came
  retry_after: string | null
  body: Buffer | null // the beginning
  address: string | null // that we spoke to
  failure: Extract<
    Result,
    'bad_answer' | 'timeout' | 'no_connection' | 'tls' | 'name_not_found' | 'forbidden_address'
  > | null
  words: string // of the failure
  ms: number
  first_byte_ms: number | null // from the call until the first byte left; null when none did
}

export function resultOf({ status, failure }: Pick<HttpOutcome, 'status' | 'failure'>): Result {
  if (status === null) return failure ?? 'bad_answer'
  if (status === 200) return 'acknowledged'
  if (status >= 200 && status < 300) return 'other_2xx'
  if (status >= 300 && status < 400) return 'redirect'
  if (status === 429) return 'busy'
  return status >= 500 ? 'server_error' : 'refused'
}

// Those that say that the endpoint itself is in trouble, and open the breaker of its lane.
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
