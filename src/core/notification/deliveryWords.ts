import type { Delivery, Result } from './delivery.ts'

// How a notification stands: `none` has no delivery, because there was no address to send it to.
export const deliveryStates = ['due', 'acknowledged', 'exhausted', 'none'] as const
export type DeliveryState = (typeof deliveryStates)[number]

// What is told of a delivery. Everything is null where there is none.
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
  journey: Pick<DeliverySummary, 'url' | 'acknowledged_at' | 'exhausted_at'>,
): DeliveryState {
  if (journey.url === null) return 'none'
  if (journey.acknowledged_at) return 'acknowledged'
  return journey.exhausted_at ? 'exhausted' : 'due'
}

export const isOnItsWay = ({ lease_until }: Pick<DeliverySummary, 'lease_until'>, now: Date) =>
  lease_until !== null && lease_until > now

const words: Record<Result, string> = {
  acknowledged: 'acknowledged',
  other_2xx: 'arrived, but not acknowledged',
  redirect: 'redirected, which is not followed',
  refused: 'refused by the endpoint',
  busy: 'the endpoint asked us to wait',
  server_error: 'the endpoint had an error of its own',
  bad_answer: 'what came back was not HTTP',
  timeout: 'no answer in time',
  no_connection: 'no connection',
  tls: 'no secure connection',
  name_not_found: 'no such host',
  forbidden_address: 'not sent: a forbidden address',
}

// A newer node may have written a word that we do not know.
export const resultWords = (result: Result): string => words[result] ?? result

const hints: Partial<Record<Result, string>> = {
  other_2xx:
    'other_2xx: arrived, but only status 200 acknowledges; the endpoint must answer 200, or it is sent again.',
  redirect:
    'redirect: we never follow one; set ipn_url to the address that answers itself (https, with or without www, ' +
    'the slash at the end).',
  forbidden_address:
    'forbidden_address: that address is not public, or its port is not open, so nothing was sent there; for ' +
    'development see TOLLGATE_EGRESS_LOOPBACK, for ports TOLLGATE_EGRESS_PORTS.',
}

// What the merchant or the operator can do about it, each once.
export const hintsFor = (results: readonly (Result | null)[]): string[] =>
  [...new Set(results)].flatMap(result => (result && hints[result]) ?? [])

export const triesKeptDays = 30
export const triesKeptMs = triesKeptDays * 86_400_000

export type Gaps = { lost: number[]; forgotten: number[] }

// Tries that were counted but are not written down. Those before the first that is may be older than what is kept; one
// that is on its way is not missing yet.
export function missingTries(
  journey: Pick<DeliverySummary, 'tries' | 'lease_until'> & { created_at: Date },
  written: readonly number[],
  now: Date,
): Gaps {
  const last = (journey.tries ?? 0) - (isOnItsWay(journey, now) ? 1 : 0)
  const missing = Array.from({ length: last }, (_, at) => at + 1).filter(number => !written.includes(number))
  const isOld = now.getTime() - journey.created_at.getTime() > triesKeptMs
  const first = isOld ? Math.min(...written, last + 1) : 0
  return {
    lost: missing.filter(number => number >= first),
    forgotten: missing.filter(number => number < first),
  }
}
