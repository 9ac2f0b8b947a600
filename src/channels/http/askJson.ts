import { NotSent } from '../../core/channel/reply.ts'
import { cleanError } from '../../core/stranger.ts'
import { type Call, exchange } from './exchange.ts'

const maxWords = 200

export type JsonAnswer = Record<string, unknown>

// For questions. Whatever is no answer in JSON is thrown.
export const askJson = (url: string, call: Call) => exchangeJson(url, call, () => {})

// For questions to which an answer may be of no or any text: `readJson` tells what is in it.
export const askText = (url: string, call: Call) => exchange(url, call, () => {})

// For an order. It throws NotSent where for certain nothing of it has left us. So it is for what charges somebody alone:
// where an order takes several requests, the last of them.
export const sendJson = (url: string, call: Call) => sending(leaving => exchangeJson(url, call, leaving))

export const sendText = (url: string, call: Call) => sending(leaving => exchange(url, call, leaving))

async function sending<T>(send: (leaving: () => void) => Promise<T>): Promise<T> {
  let hasLeft = false
  try {
    return await send(() => (hasLeft = true))
  } catch (error) {
    throw hasLeft ? error : new NotSent(cleanError(error, maxWords))
  }
}

async function exchangeJson(url: string, call: Call, leaving: () => void) {
  const { text, ...answered } = await exchange(url, call, leaving)
  const answer = readJson(text)
  if (!answer) throw new Error(`HTTP ${answered.http}, and the answer is no JSON object`)
  return { ...answered, answer }
}

// Undefined for whatever is no object. What the text was is not told: it may have what is private.
export function readJson(text: string): JsonAnswer | undefined {
  try {
    const answer: unknown = JSON.parse(text)
    return typeof answer === 'object' && answer !== null ? (answer as JsonAnswer) : undefined
  } catch {
    return undefined
  }
}
