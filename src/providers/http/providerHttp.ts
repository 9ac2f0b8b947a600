import type { Egress } from '../../core/provider/provider.ts'
import { NotSent } from '../../core/provider/reply.ts'
import { cleanError } from '../../core/text.ts'
import type { OperatorUrl } from '../../core/urlTrust.ts'
import { type HttpResult, wasSent } from '../../net/connection.ts'
import { createOperatorClient, type HttpMethod } from '../../net/outbound.ts'

const maxWords = 200

export type Call = {
  method?: HttpMethod
  headers?: Record<string, string>
  body?: string
  signal: AbortSignal // aborted when no caller waits for the answer
}
// `restMs`: the pause that the provider asks for by Retry-After.
export type Answered = { http: number; text: string; restMs?: number }
export type JsonAnswer = Record<string, unknown>
type JsonAnswered = Omit<Answered, 'text'> & { answer: JsonAnswer }

type ProviderHttp = {
  // For status questions. They throw unless the whole answer arrived; `askJson` also throws if it is not a JSON object.
  askJson(url: OperatorUrl, call: Call): Promise<JsonAnswered>
  askText(url: OperatorUrl, call: Call): Promise<Answered>
  // For the request that charges the customer, and only for it; if an order takes several requests, for the last one.
  // They throw `NotSent` if no byte of it was written.
  sendJson(url: OperatorUrl, call: Call): Promise<JsonAnswered>
  sendText(url: OperatorUrl, call: Call): Promise<Answered>
}

// The HTTP client of one provider account, with the source address and the proxy of that account.
export function openProviderHttp({ address, proxy }: Egress = {}): ProviderHttp {
  const client = createOperatorClient({ sourceAddress: address || undefined, proxy: proxy || undefined })

  async function request(url: OperatorUrl, { method = 'GET', headers = {}, body, signal }: Call, fail: Fail) {
    const lowerCase = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
    )
    // A server may close an idle connection while a request is written to it, and then the outcome is unknown. So every
    // request but a GET has its own connection.
    const ownConnection = method !== 'GET'
    const result = await client.send({ url, method, headers: lowerCase, body, ownConnection, signal })
    const error = signal.aborted ? (signal.reason as Error) : whyNoAnswer(result)
    if (error) throw fail(error, result)
    return answeredOf(result)
  }

  return {
    askJson: async (url, call) => readAnswer(await request(url, call, asIs)),
    askText: (url, call) => request(url, call, asIs),
    sendJson: async (url, call) => readAnswer(await request(url, call, orNotSent)),
    sendText: (url, call) => request(url, call, orNotSent),
  }
}

type Fail = (error: Error, result: HttpResult) => Error
const asIs: Fail = error => error
const orNotSent: Fail = (error, result) =>
  wasSent(result) ? error : new NotSent(cleanError(error, maxWords))

function whyNoAnswer({ status, error, code, isComplete }: HttpResult): Error | undefined {
  if (status === null) return new Error(code && !error.includes(code) ? `${error} (${code})` : error)
  if (status >= 300 && status < 400) return new Error(`HTTP ${status}: redirects are not followed`)
  return isComplete ? undefined : new Error(`HTTP ${status}, and the answer is too long or broke off`)
}

function answeredOf({ status, body, retry_after }: HttpResult): Answered {
  const pause = /^\d{1,5}$/.test(retry_after ?? '') ? { restMs: Number(retry_after) * 1000 } : {}
  return { http: status ?? 0, text: body?.toString() ?? '', ...pause }
}

function readAnswer({ text, ...answered }: Answered): JsonAnswered {
  const answer = readJson(text)
  if (!answer) throw new Error(`HTTP ${answered.http}, and the answer is not a JSON object`)
  return { ...answered, answer }
}

// Undefined for anything but an object. The text stays out of errors, because it may contain private data.
export function readJson(text: string): JsonAnswer | undefined {
  try {
    const answer: unknown = JSON.parse(text)
    return typeof answer === 'object' && answer !== null ? (answer as JsonAnswer) : undefined
  } catch {
    return undefined
  }
}
