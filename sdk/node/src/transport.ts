import { RefusedError, type SignatureHint, TollgateError, UnavailableError } from './errors.ts'

/**
 * Passed to `onRetry` before a request is repeated.
 *
 * @example
 * createTollgate({ ..., onRetry: ({ error, attempt, delayMs }) => console.warn(error.message, attempt, delayMs) })
 */
export type Retry = {
  /** Why the request is repeated. */
  error: UnavailableError
  /** The number of the try that failed, from 1. */
  attempt: number
  /** How long the client waits before the next try. */
  delayMs: number
}

export type Limits = { tries: number; timeoutMs: number; backoffMs: number; signal?: AbortSignal | undefined }

export type Transport = {
  baseUrl: string
  fetch: typeof fetch
  limits: Limits
  onRetry: (retry: Retry) => void
}

export type Answer = { body: Record<string, unknown>; requestId: string | undefined }

// Makes one try: the feed signs the time, so each of its tries has other headers. `initiate` returns the same bytes.
export type MakeRequest = () => Promise<{ path: string; init: RequestInit }>

const maxDelayMs = 30_000 // a longer Retry-After ends the call, and the error has it

// Sends a request until the gateway accepts or refuses it. Every request of this package may be repeated: the gateway
// never creates a second payment for one invoice_id, and never refunds twice for one refund_id.
export async function send(transport: Transport, request: MakeRequest, limits: Limits): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await sendOnce(transport, request, limits)
    } catch (error) {
      if (!(error instanceof UnavailableError) || error.code === 'aborted' || attempt >= limits.tries)
        throw error
      const { retryAfterMs = 0 } = error
      if (retryAfterMs > maxDelayMs) throw error
      const delayMs = retryAfterMs + backoff(attempt, limits.backoffMs)
      transport.onRetry({ error, attempt, delayMs })
      await sleep(delayMs, limits.signal)
    }
  }
}

// Doubles with each try. The random half keeps clients that failed together from returning together.
function backoff(attempt: number, backoffMs: number): number {
  const most = Math.min(backoffMs * 2 ** (attempt - 1), maxDelayMs)
  return most / 2 + Math.random() * (most / 2)
}

export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) throw aborted(signal)
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(done, ms)
    function done() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      if (signal?.aborted) reject(aborted(signal))
      else resolve()
    }
    signal?.addEventListener('abort', done)
  })
}

const aborted = (signal: AbortSignal) =>
  new UnavailableError('Your signal ended the call before the gateway answered.', {
    code: 'aborted',
    cause: signal.reason,
  })

async function sendOnce(
  { baseUrl, fetch }: Transport,
  request: MakeRequest,
  limits: Limits,
): Promise<Answer> {
  const { timeoutMs, signal } = limits
  const { path, init } = await request()
  if (signal?.aborted) throw aborted(signal)
  const controller = new AbortController()
  const abort = () => controller.abort()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    abort()
  }, timeoutMs)
  signal?.addEventListener('abort', abort)
  try {
    const response = await fetch(baseUrl + path, { ...init, redirect: 'manual', signal: controller.signal })
    return readAnswer(response, await response.text())
  } catch (cause) {
    if (cause instanceof TollgateError) throw cause
    if (signal?.aborted) throw aborted(signal)
    const what = isLate ? `did not answer within ${timeoutMs} ms` : 'could not be reached'
    throw new UnavailableError(`The gateway at ${baseUrl} ${what}.`, { cause })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

// Only an answer that the gateway itself wrote counts. A page of a proxy says nothing about a payment.
function readAnswer({ status, headers }: Response, text: string): Answer {
  const body = parseObject(text)
  const requestId = headers.get('x-request-id') ?? undefined
  if (status === 200 && body?.success === true) return { body, requestId }
  const isRefusal = body?.success === false && typeof body.error === 'object' && body.error !== null
  const httpStatus = isRefusal && typeof body.status_code === 'number' ? body.status_code : status
  if (httpStatus === 408 || httpStatus === 429 || httpStatus >= 500 || (!isRefusal && httpStatus < 300))
    throw new UnavailableError(temporaryText(httpStatus, body), {
      httpStatus,
      retryAfterMs: readRetryAfter(headers.get('retry-after')),
      requestId,
    })
  throw isRefusal
    ? refusalOf(httpStatus, body.error as Record<string, unknown>, requestId)
    : new RefusedError(foreignAnswerText(httpStatus, headers.get('location')), {
        code: `http_${httpStatus}`,
        httpStatus,
        requestId,
      })
}

export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

const temporaryText = (httpStatus: number, body: Record<string, unknown> | undefined) =>
  `The gateway answered HTTP ${httpStatus}${typeof body?.message === 'string' ? `: ${body.message}` : ' without a usable body.'}`

const foreignAnswerText = (httpStatus: number, location: string | null) =>
  location === null
    ? `HTTP ${httpStatus} is not an answer of a Tollgate gateway. Check baseUrl.`
    : `The address redirects to ${location}. Set baseUrl to the address that answers directly.`

// Seconds, or a date.
function readRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0)
}

// What to do, where the gateway's sentence does not say it.
const advice: Record<string, string> = {
  '404 GW-005': 'Check invoiceId, and whether merchantKey has the mode of the payment.',
  '409 GW-005': 'Repeat an order with the same details, or use a new invoiceId for a new payment.',
  '401 GW-008': 'Check merchantKey and baseUrl.',
  '401 GW-010': 'Check merchantSecret; for the event feed also the clock of this machine.',
  '403 GW-009': 'Ask the operator of the gateway.',
  '403 GW-022': 'Ask the operator of the gateway to allow refunds.',
  '409 GW-027': 'Repeat a refund with the same values, or use a new refundId for a new refund.',
}

function refusalOf(httpStatus: number, error: Record<string, unknown>, requestId: string | undefined) {
  const code = String(error.code)
  const hint = readHint(error.hint)
  const sentences = [
    `${code} ${String(error.message)}${/[.!?]$/.test(String(error.message)) ? '' : '.'}`,
    advice[`${httpStatus} ${code}`],
    hint && `Likely mistake: ${hint.likelyMistake}. The gateway hashed "${hint.hashedString}".`,
  ]
  const field = typeof error.field === 'string' ? error.field : undefined
  const left = typeof error.left === 'number' ? error.left : undefined
  return new RefusedError(sentences.filter(Boolean).join(' '), {
    code,
    field,
    requestId,
    httpStatus,
    hint,
    left,
  })
}

function readHint(hint: unknown): SignatureHint | undefined {
  if (typeof hint !== 'object' || hint === null) return undefined
  const { hashed_string, likely_mistake } = hint as Record<string, unknown>
  return { hashedString: String(hashed_string), likelyMistake: String(likely_mistake) }
}
