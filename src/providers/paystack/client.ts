import type { Mode } from '../../core/mode.ts'
import type { CredentialsCheck, Egress } from '../../core/provider/provider.ts'
import type { Reply } from '../../core/provider/reply.ts'
import { cleanError } from '../../core/text.ts'
import { type OperatorUrl, withPath } from '../../core/urlTrust.ts'
import { type Answered, type JsonAnswer, openProviderHttp, readJson } from '../http/providerHttp.ts'

const defaultPauseMs = 180_000 // Paystack documents "a few minutes"
const maxWords = 200

// Paystack's reply to a request. `isHandled`: it did what was requested, which does not mean that the order is paid.
export type PaystackResponse = {
  http: number
  isHandled: boolean
  message: string
  code?: string // of an error
  data: JsonAnswer // empty if it is not an object
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
      readResponse(await provider.askText(withPath(url, path), { headers: { authorization }, signal })),
    send: async (path, order, signal) => {
      const body = JSON.stringify(order)
      const headers = { authorization, 'content-type': 'application/json' }
      return readResponse(
        await provider.sendText(withPath(url, path), { method: 'POST', headers, body, signal }),
      )
    },
  }
}

// A firewall or a rate limiter refuses a request before it is read, and its body may not be JSON.
const readableByStatus = new Set([401, 403, 429])

function readResponse({ http, text, restMs }: Answered): PaystackResponse {
  const answer = readJson(text) ?? (readableByStatus.has(http) ? {} : undefined)
  if (!answer) throw new Error(`HTTP ${http}, and the answer is not a JSON object`)
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

type ErrorKind = 'duplicate' | 'not_found' | 'key_refused' | 'rate_limited'

// Observed codes in lower case: Paystack writes `invalid_Key`.
const kindsByCode: Readonly<Record<string, ErrorKind>> = {
  duplicate_reference: 'duplicate',
  transaction_not_found: 'not_found',
  invalid_key: 'key_refused',
}

// The messages change, so they are matched loosely.
const kindsByMessage: readonly (readonly [RegExp, ErrorKind])[] = [
  [/duplicate.*reference/i, 'duplicate'],
  [/(reference|transaction|charge).*not found/i, 'not_found'],
  [/wait a few minutes/i, 'rate_limited'],
]

const isClientError = (http: number) => http >= 400 && http < 500

// By the HTTP status, then by the code, then by the message: old endpoints send no code, and many new ones only a general
// one.
export function paystackErrorKind({ http, code = '', message }: PaystackResponse): ErrorKind | undefined {
  if (!isClientError(http)) return undefined
  if (http === 429) return 'rate_limited'
  if (http === 401 || http === 403) return 'key_refused'
  return kindsByCode[code.toLowerCase()] ?? kindsByMessage.find(([pattern]) => pattern.test(message))?.[1]
}

export const providerCode = ({ code }: PaystackResponse) =>
  code === undefined ? {} : { provider_code: code }

export type PaystackUnknownReply = Reply & { state: 'unknown' }

// A reply that proves nothing about the order, such as a refused key.
export function unclearPaystackReply(response: PaystackResponse): PaystackUnknownReply {
  const { http, message, restMs = defaultPauseMs } = response
  const code = providerCode(response)
  const kind = paystackErrorKind(response)
  if (kind === 'rate_limited')
    return { state: 'unknown', words: 'Paystack asked for a pause', restMs, ...code }
  if (kind === 'key_refused') {
    const words = `Paystack does not accept the secret key: HTTP ${http}`
    return { state: 'unknown', words, isRefusal: true, ...code }
  }
  const unknownCode = isClientError(http) && message !== '' ? { unknownCode: paystackSample(message) } : {}
  return { state: 'unknown', words: `HTTP ${http}`, ...unknownCode, ...code }
}

// Untrusted text without what may be private: addresses, numbers, keys.
export const paystackSample = (value: unknown) =>
  String(value)
    .slice(0, 200)
    .replace(/\S+@\S+/g, '#')
    .replace(/\S*\d\S*\d\S*/g, '#')
    .replace(/\S{25,}/g, '#')
    .slice(0, 60)

// The balances show that the secret key works and which currencies the business has.
export async function checkPaystackCredentials(
  client: PaystackClient,
  mode: Mode,
  signal: AbortSignal,
): Promise<CredentialsCheck> {
  try {
    return judge(await client.ask('/balance', signal), mode)
  } catch (error) {
    return unreachable(`Paystack was not reached: ${cleanError(error, maxWords)}.`)
  }
}

function judge(response: PaystackResponse, mode: Mode): CredentialsCheck {
  if (response.http === 401)
    return invalid(
      'Paystack does not know the secret key. It may be cut off, or have been replaced at the dashboard.',
    )
  if (response.http === 403)
    return invalid('Paystack refuses our calls. Calls may be limited to known addresses at its dashboard.')
  if (!response.isHandled)
    return unreachable(`Paystack gave no clear answer: ${unclearPaystackReply(response).words}.`)
  const currencies = Object.values(response.data).map(
    balance => (balance as { currency?: unknown } | null)?.currency,
  )
  return currencies.includes('GHS')
    ? { isValid: true, words: `Paystack accepts the secret key, for ${mode} payments in GHS.` }
    : invalid(
        'Paystack accepts the secret key, but the account has no balance in GHS: only businesses in Ghana have one.',
      )
}

const invalid = (words: string): CredentialsCheck => ({ isValid: false, words })
const unreachable = (words: string): CredentialsCheck => ({ ...invalid(words), unreachable: true })
