import { getCookie, setCookie } from 'hono/cookie'
import type { Refusal } from '../../core/interface/refusal.ts'
import {
  isSameSecret,
  isSecureAddress,
  isSession,
  newSession,
  type OperatorKeys,
  sessionCookie,
  sessionSeconds,
} from '../../core/operator/operatorKeys.ts'
import type { RateLimits } from '../../runtime/rateLimits.ts'
import { addressOf } from './apiRequest.ts'
import type { Ctx } from './context.ts'
import { isRefusal } from './errors.ts'

// Access to a page of the operator. It always needs the token or the session cookie: no property of a request shows that
// it comes from this machine, because a proxy on the machine need not say whom it speaks for.
export type OperatorDoor = {
  name: 'support' | 'metrics' // wrong tokens are counted by it
  keys: OperatorKeys
  metricsToken?: string // opens the numbers alone
  baseUrl(): string
  trustedProxies: number
  limits: Pick<RateLimits, 'tryToken' | 'wrongToken'>
  clock(): Date
}

// A refusal for an address that was wrong too often.
export type Access = 'granted' | 'no_token' | 'wrong_token' | Refusal

export function accessOf(c: Ctx, door: OperatorDoor): Access {
  if (isSession(door.keys, getCookie(c, sessionCookie(door.baseUrl())), door.clock())) return 'granted'
  const shown = tokenIn(c.req.header('authorization') ?? '')
  if (shown === undefined) return 'no_token'
  const tokens = [door.keys.supportToken, ...(door.metricsToken ? [door.metricsToken] : [])]
  return countingWrong(c, door, () => tokens.some(token => isSameSecret(shown, token)))
}

// While an address has to wait, what it shows is not compared, right or wrong: else the answer would still tell which.
export function countingWrong(c: Ctx, door: OperatorDoor, isRight: () => boolean): Access {
  const { name, limits, trustedProxies } = door
  const address = addressOf(c.env.incoming, trustedProxies)
  try {
    limits.tryToken(name, address)
    if (isRight()) return 'granted'
    limits.wrongToken(name, address)
    return 'wrong_token'
  } catch (error) {
    if (isRefusal(error)) return error
    throw error
  }
}

// Lax, so that a link from a chat opens the page of a payment.
export function startSession(c: Ctx, door: OperatorDoor) {
  const baseUrl = door.baseUrl()
  setCookie(c, sessionCookie(baseUrl), newSession(door.keys, door.clock()), {
    path: '/',
    httpOnly: true,
    sameSite: 'Lax',
    secure: isSecureAddress(baseUrl),
    maxAge: sessionSeconds,
  })
}

// A bearer token, or the password of Basic authentication by any user name. Undefined where neither is shown.
function tokenIn(header: string): string | undefined {
  const [, token] = /^bearer +(.+)$/i.exec(header) ?? []
  if (token !== undefined) return token
  const [, encoded] = /^basic +([a-z0-9+/=]+)$/i.exec(header) ?? []
  if (encoded === undefined) return undefined
  const pair = Buffer.from(encoded, 'base64').toString('utf8')
  return pair.slice(pair.indexOf(':') + 1)
}
