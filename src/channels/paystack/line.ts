import type { Egress } from '../../core/channel/channel.ts'
import type { Reply } from '../../core/channel/reply.ts'
import { askText, type JsonAnswer, readJson, sendText } from '../http/askJson.ts'
import type { Answered } from '../http/exchange.ts'

// What Paystack says to a request. `isHandled` is its word that it did what it was asked for, not that anybody has paid.
export type Said = { http: number; isHandled: boolean; message: string; data: JsonAnswer; restMs?: number }

export type Line = {
  ask(path: string, signal: AbortSignal): Promise<Said>
  send(path: string, body: object, signal: AbortSignal): Promise<Said>
}

export function lineTo(url: string, secretKey: string, egress: Egress): Line {
  const at = (path: string) => url.replace(/\/+$/, '') + path
  const authorization = `Bearer ${secretKey}`
  return {
    ask: async (path, signal) =>
      said(await askText(at(path), { headers: { authorization }, egress, signal })),
    send: async (path, order, signal) => {
      const body = JSON.stringify(order)
      const headers = { authorization, 'content-type': 'application/json' }
      return said(await sendText(at(path), { method: 'POST', headers, body, egress, signal }))
    },
  }
}

// Who is asked too often may be told so by something that stands before Paystack, and speaks no JSON.
function said({ http, text, restMs }: Answered): Said {
  const answer = readJson(text) ?? (http === 429 ? {} : undefined)
  if (!answer) throw new Error(`HTTP ${http}, and the answer is no JSON object`)
  return {
    http,
    restMs,
    isHandled: http >= 200 && http < 300 && answer.status === true,
    message: typeof answer.message === 'string' ? answer.message : '',
    data: typeof answer.data === 'object' && answer.data !== null ? (answer.data as JsonAnswer) : {},
  }
}

const waitMs = 180_000 // "a few minutes", says its sentence, and not how many

// Its sentences are the only keys that it gives, so they are matched loosely.
export const isDuplicate = ({ http, message }: Said) =>
  isRefusal(http) && /duplicate.*reference/i.test(message)
export const isNotFound = ({ http, message }: Said) =>
  isRefusal(http) && /(reference|transaction|charge).*not found/i.test(message)
export const isTooMuch = ({ http, message }: Said) =>
  http === 429 || (isRefusal(http) && /wait a few minutes/i.test(message))

const isRefusal = (http: number) => http >= 400 && http < 500

// No answer to what was asked. A key that is not taken is our own mistake, and nothing about the order.
export function unclear(told: Said): Reply & { state: 'unknown' } {
  const { http, message, restMs = waitMs } = told
  if (isTooMuch(told)) return { state: 'unknown', words: 'Paystack wants to be left alone', restMs }
  if (http === 401 || http === 403)
    return { state: 'unknown', words: `Paystack does not take the secret key: HTTP ${http}` }
  const oddWord = isRefusal(http) && message !== '' ? { oddWord: sampleOf(message) } : {}
  return { state: 'unknown', words: `HTTP ${http}`, ...oddWord }
}

// Of what was said, without what could be somebody's: addresses, numbers, keys.
export const sampleOf = (told: unknown) =>
  String(told)
    .slice(0, 200)
    .replace(/\S+@\S+/g, '#')
    .replace(/\S*\d\S*\d\S*/g, '#')
    .replace(/\S{25,}/g, '#')
    .slice(0, 60)
