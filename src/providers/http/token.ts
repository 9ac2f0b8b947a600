import type { Token } from '../../core/provider/provider.ts'
import { NotSent } from '../../core/provider/reply.ts'
import { cleanError } from '../../core/text.ts'

const renewBeforeMs = 60_000 // before the token expires; a short-lived one is renewed after half of its lifetime
const requestTimeoutMs = 10_000
const maxWords = 200

// `refused`: a token that the provider refused, so it must not be returned again.
type GetToken = (signal: AbortSignal, refused?: string) => Promise<string>

type TokenRequest = { token: Promise<string>; abort: AbortController; waiting: number }

// Caches the token of one account on this node. Concurrent callers share one request for a new token; each of them stops
// waiting when its own signal is aborted, and the last one aborts the request. If a new token of a provider invalidates
// the former one, use `tools.token`, which all nodes share.
export function createTokenCache(
  requestToken: (signal: AbortSignal) => Promise<Token>,
  now: () => number = () => performance.now(),
): GetToken {
  let cached: { token: string; validUntil: number } | undefined
  let request: TokenRequest | undefined

  function startRequest(): TokenRequest {
    const abort = new AbortController()
    const timeout = setTimeout(() => abort.abort(new Error('no token in time')), requestTimeoutMs)
    const started: TokenRequest = { token: fetchToken(abort.signal), abort, waiting: 0 }
    const end = () => {
      clearTimeout(timeout)
      if (request === started) request = undefined
    }
    started.token.then(end, end)
    return started
  }

  async function fetchToken(signal: AbortSignal): Promise<string> {
    const { token, lifetimeMs } = await unlessAborted(requestToken(signal), signal)
    cached = { token, validUntil: now() + lifetimeMs - Math.min(renewBeforeMs, lifetimeMs / 2) }
    return token
  }

  async function wait(signal: AbortSignal): Promise<string> {
    const joined = (request ??= startRequest())
    joined.waiting++
    try {
      return await unlessAborted(joined.token, signal)
    } finally {
      if (--joined.waiting === 0) {
        if (request === joined) request = undefined
        joined.abort.abort(new Error('no caller waits for the token'))
      }
    }
  }

  return async (signal, refused) => {
    signal.throwIfAborted()
    if (cached?.token === refused) cached = undefined
    return cached && now() < cached.validUntil ? cached.token : wait(signal)
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
  getToken: GetToken,
  signal: AbortSignal,
  call: Call<T>,
): Promise<T> {
  const token = await getToken(signal)
  const answered = await call(token)
  return answered.http === 401 ? call(await getToken(signal, token)) : answered
}

// The same for an order. A 401 refuses the caller before the order is read, so an order that was only answered 401 was not
// sent.
export async function sendWithToken<T extends { http: number }>(
  getToken: GetToken,
  signal: AbortSignal,
  send: Call<T>,
): Promise<T> {
  const token = await getToken(signal).catch((error: unknown) => {
    throw new NotSent(cleanError(error, maxWords), { cause: error })
  })
  const answered = await send(token)
  if (answered.http !== 401) return answered
  const newToken = await getToken(signal, token).catch((error: unknown) => {
    throw new NotSent(after401(error), { cause: error })
  })
  return send(newToken).catch((error: unknown) => {
    throw error instanceof NotSent
      ? new NotSent(after401(error), { cause: error })
      : new Error(after401(error), { cause: error })
  })
}

const after401 = (error: unknown) => `HTTP 401, then: ${cleanError(error, maxWords)}`
