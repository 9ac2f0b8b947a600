import type { Egress } from '../../core/provider/provider.ts'
import type { Reply } from '../../core/provider/reply.ts'
import { type OperatorUrl, withPath } from '../../core/urlTrust.ts'
import { type Answered, type JsonAnswer, openProviderHttp, readJson } from '../http/providerHttp.ts'

// What Paystack says to a request. `isHandled` is its word that it did what it was asked for, not that anybody has paid.
export type PaystackResponse = {
  http: number
  isHandled: boolean
  message: string
  code?: string // of an error
  data: JsonAnswer // empty where it is no object
  rawData?: unknown
  restMs?: number
}

export type PaystackClient = {
  ask(path: string, signal: AbortSignal): Promise<PaystackResponse>
  send(path: string, body: object, signal: AbortSignal): Promise<PaystackResponse>
}

export function paystackClient(url: OperatorUrl, secretKey: string, egress: Egress): PaystackClient {
  const provider = openProviderHttp(egress)
  const authorization = `Bearer ${secretKey}`
  return {
    ask: async (path, signal) =>
      said(await provider.askText(withPath(url, path), { headers: { authorization }, signal })),
    send: async (path, order, signal) => {
      const body = JSON.stringify(order)
      const headers = { authorization, 'content-type': 'application/json' }
      return said(await provider.sendText(withPath(url, path), { method: 'POST', headers, body, signal }))
    },
  }
}

// A refusal before the request is read, by a firewall or a rate limiter, may have a body that is not JSON.
const readableByStatus = new Set([401, 403, 429])

function said({ http, text, restMs }: Answered): PaystackResponse {
  const answer = readJson(text) ?? (readableByStatus.has(http) ? {} : undefined)
  if (!answer) throw new Error(`HTTP ${http}, and the answer is no JSON object`)
  return {
    http,
    restMs,
    isHandled: http >= 200 && http < 300 && answer.status === true,
    message: typeof answer.message === 'string' ? answer.message : '',
    ...codeOf(answer),
    rawData: answer.data,
    data: typeof answer.data === 'object' && answer.data !== null ? (answer.data as JsonAnswer) : {},
  }
}

const codeOf = ({ code }: JsonAnswer) =>
  typeof code === 'string' && /^[\w.-]{1,100}$/.test(code) ? { code } : {}

const waitMs = 180_000 // "a few minutes", says its sentence, and not how many

type ErrorKind = 'duplicate' | 'not_found' | 'key_refused' | 'rate_limited'

// Observed codes, in lower case: Paystack writes `invalid_Key`.
const kindsByCode: Readonly<Record<string, ErrorKind>> = {
  duplicate_reference: 'duplicate',
  transaction_not_found: 'not_found',
  invalid_key: 'key_refused',
}

// The sentences are not stable, so they are matched loosely.
const kindsBySentence: readonly (readonly [RegExp, ErrorKind])[] = [
  [/duplicate.*reference/i, 'duplicate'],
  [/(reference|transaction|charge).*not found/i, 'not_found'],
  [/wait a few minutes/i, 'rate_limited'],
]

const isRefusal = (http: number) => http >= 400 && http < 500

// What an error means: by its HTTP status where that says it all, then by its code, then by its sentence. Older answers
// have no code, and many newer ones only a general one.
function errorKind({ http, code = '', message }: PaystackResponse): ErrorKind | undefined {
  if (!isRefusal(http)) return undefined
  if (http === 429) return 'rate_limited'
  if (http === 401 || http === 403) return 'key_refused'
  return kindsByCode[code.toLowerCase()] ?? kindsBySentence.find(([fits]) => fits.test(message))?.[1]
}

export const isDuplicate = (told: PaystackResponse) => errorKind(told) === 'duplicate'
export const isPaystackNotFound = (told: PaystackResponse) => errorKind(told) === 'not_found'
export const isTooMuch = (told: PaystackResponse) => errorKind(told) === 'rate_limited'
export const isKeyRefused = (told: PaystackResponse) => errorKind(told) === 'key_refused'

export const providerCode = ({ code }: PaystackResponse) =>
  code === undefined ? {} : { provider_code: code }

export type PaystackUnknownReply = Reply & { state: 'unknown' }

// No answer to what was asked. A refused key is a mistake in our settings and says nothing about the order.
export function unclearPaystackReply(told: PaystackResponse): PaystackUnknownReply {
  const { http, message, restMs = waitMs } = told
  const code = providerCode(told)
  if (isTooMuch(told)) return { state: 'unknown', words: 'Paystack wants to be left alone', restMs, ...code }
  if (isKeyRefused(told)) {
    const words = `Paystack does not take the secret key: HTTP ${http}`
    return { state: 'unknown', words, isRefusal: true, ...code }
  }
  const unknownCode = isRefusal(http) && message !== '' ? { unknownCode: paystackSample(message) } : {}
  return { state: 'unknown', words: `HTTP ${http}`, ...unknownCode, ...code }
}

// Of what was said, without what could be somebody's: addresses, numbers, keys.
export const paystackSample = (told: unknown) =>
  String(told)
    .slice(0, 200)
    .replace(/\S+@\S+/g, '#')
    .replace(/\S*\d\S*\d\S*/g, '#')
    .replace(/\S{25,}/g, '#')
    .slice(0, 60)
