import type { Token } from '../../core/provider/provider.ts'
import { NotSent } from '../../core/provider/reply.ts'
import { cleanError } from '../../core/text.ts'

const earlyMs = 60_000 // a token is renewed so long before its end, and a short-lived one after half of its life
const mintWithinMs = 10_000 // then a request for a token is given up, and the next caller makes another
const maxWords = 200

// `refused`: the token that the provider refused.
export type AskToken = (signal: AbortSignal, refused?: string) => Promise<string>

type Kept = { token: string; goodUntil: number }
type Mint = { token: Promise<string>; hangUp: AbortController; waiting: number }

// The token of one account, on this node. Callers share one request for a new token, and each waits until its own signal
// is aborted. If a new token of a provider invalidates the former one, use `tools.token`, which all nodes share.
export function tokenOf(
  make: (signal: AbortSignal) => Promise<Token>,
  now: () => number = () => performance.now(),
): AskToken {
  let kept: Kept | undefined
  let mint: Mint | undefined

  function startMint(): Mint {
    const hangUp = new AbortController()
    const late = setTimeout(() => hangUp.abort(new Error('no token in time')), mintWithinMs)
    const begun: Mint = { token: minted(hangUp.signal), hangUp, waiting: 0 }
    const isOver = () => {
      clearTimeout(late)
      if (mint === begun) mint = undefined
    }
    begun.token.then(isOver, isOver)
    return begun
  }

  async function minted(signal: AbortSignal): Promise<string> {
    const { token, lifetimeMs } = await unlessAborted(make(signal), signal)
    kept = { token, goodUntil: now() + lifetimeMs - Math.min(earlyMs, lifetimeMs / 2) }
    return token
  }

  async function wait(signal: AbortSignal): Promise<string> {
    const joined = (mint ??= startMint())
    joined.waiting++
    try {
      return await unlessAborted(joined.token, signal)
    } finally {
      if (--joined.waiting === 0) {
        if (mint === joined) mint = undefined
        joined.hangUp.abort(new Error('no caller waits for the token'))
      }
    }
  }

  return async (signal, refused) => {
    signal.throwIfAborted()
    if (kept?.token === refused) kept = undefined
    return kept && now() < kept.goodUntil ? kept.token : wait(signal)
  }
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason as Error)
    if (signal.aborted) giveUp()
    signal.addEventListener('abort', giveUp)
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp))
  })
}

type Call<T> = (token: string) => Promise<T>

// Calls with the token, and once more with a new one if the provider refuses it.
export async function withToken<T extends { http: number }>(
  ask: AskToken,
  signal: AbortSignal,
  call: Call<T>,
): Promise<T> {
  const token = await ask(signal)
  const answered = await call(token)
  return answered.http === 401 ? call(await ask(signal, token)) : answered
}

// The same for an order. A 401 refuses the caller before the order is read, so an order that only met 401 was not sent.
export async function sendWithToken<T extends { http: number }>(
  ask: AskToken,
  signal: AbortSignal,
  send: Call<T>,
): Promise<T> {
  const token = await ask(signal).catch((error: unknown) => {
    throw new NotSent(cleanError(error, maxWords), { cause: error })
  })
  const answered = await send(token)
  if (answered.http !== 401) return answered
  const newToken = await ask(signal, token).catch((error: unknown) => {
    throw new NotSent(after401(error), { cause: error })
  })
  return send(newToken).catch((error: unknown) => {
    throw error instanceof NotSent
      ? new NotSent(after401(error), { cause: error })
      : new Error(after401(error), { cause: error })
  })
}

const after401 = (error: unknown) => `HTTP 401, then: ${cleanError(error, maxWords)}`
