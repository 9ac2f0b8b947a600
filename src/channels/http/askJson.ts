import { NotSent } from '../../core/channel/channel.ts'
import { cleanError } from '../../core/stranger.ts'
import { type Call, exchange } from './exchange.ts'

const maxWords = 200

export type JsonAnswer = Record<string, unknown>

// For questions. Whatever is no answer in JSON is thrown.
export const askJson = (url: string, call: Call) => exchangeJson(url, call, () => {})

// For an order. It throws NotSent where for certain nothing of it has left us. So it is for what charges somebody alone:
// where an order takes several requests, the last of them.
export async function sendJson(url: string, call: Call) {
  let hasLeft = false
  try {
    return await exchangeJson(url, call, () => (hasLeft = true))
  } catch (error) {
    throw hasLeft ? error : new NotSent(cleanError(error, maxWords))
  }
}

async function exchangeJson(url: string, call: Call, leaving: () => void) {
  const { http, text } = await exchange(url, call, leaving)
  const answer: unknown = JSON.parse(text)
  if (typeof answer !== 'object' || answer === null) throw new Error('the answer is no JSON object')
  return { http, answer: answer as JsonAnswer }
}
