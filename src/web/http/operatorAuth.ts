import { getCookie, setCookie } from 'hono/cookie'
import { type FormSender, formSender } from '../../core/formOrigin.ts'
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

// The protection of an operator's page. It always requires the token or the session cookie. No property of a request
// proves that it comes from this machine, because a proxy here may hide its client.
export type OperatorAuth = {
  name: 'support' | 'metrics' // wrong tokens are counted by this name
  keys: OperatorKeys
  metricsTokens?: readonly string[] // open the metrics only
  baseUrl(): string
  trustedProxies: number
  limits: Pick<RateLimits, 'tryToken' | 'wrongToken'>
  clock(): Date
}

// A refusal if the address sent too many wrong tokens.
export type Access = 'granted' | 'no_token' | 'wrong_token' | Refusal

export function accessOf(c: Ctx, auth: OperatorAuth): Access {
  if (isSession(auth.keys, getCookie(c, sessionCookie(auth.baseUrl())), auth.clock())) return 'granted'
  const token = tokenIn(c.req.header('authorization') ?? '')
  if (token === undefined) return 'no_token'
  const { keys, metricsTokens = [] } = auth
  const { supportToken, oldSupportToken } = keys
  const accepted = [supportToken, ...(oldSupportToken ? [oldSupportToken] : []), ...metricsTokens]
  return limitWrongTokens(c, auth, () => accepted.some(secret => isSameSecret(token, secret)))
}

// While an address has to wait, its token is not compared. Otherwise the answer would reveal whether it is right.
export function limitWrongTokens(c: Ctx, auth: OperatorAuth, isRight: () => boolean): Access {
  const { name, limits, trustedProxies } = auth
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

// SameSite=Lax, so that a link from a chat opens the page of a payment.
export function startSession(c: Ctx, auth: OperatorAuth) {
  const baseUrl = auth.baseUrl()
  setCookie(c, sessionCookie(baseUrl), newSession(auth.keys, auth.clock()), {
    path: '/',
    httpOnly: true,
    sameSite: 'Lax',
    secure: isSecureAddress(baseUrl),
    maxAge: sessionSeconds,
  })
}

// A bearer token, or the password of Basic authentication with any user name.
function tokenIn(header: string): string | undefined {
  const [, token] = /^bearer +(.+)$/i.exec(header) ?? []
  if (token !== undefined) return token
  const [, encoded] = /^basic +([a-z0-9+/=]+)$/i.exec(header) ?? []
  if (encoded === undefined) return undefined
  const pair = Buffer.from(encoded, 'base64').toString('utf8')
  return pair.slice(pair.indexOf(':') + 1)
}

export const senderOf = (c: Ctx, baseUrl: string): FormSender => {
  const [site, origin, host] = ['sec-fetch-site', 'origin', 'host'].map(name => c.req.header(name))
  return formSender({ site, origin, host }, baseUrl)
}

const browser = /^(mozilla|opera)\//i

// Whether a program sent the operator token, which was checked before. No form makes a browser send a bearer token. A
// browser repeats a Basic password automatically, so Basic counts only from another client, such as curl -u.
export function isOperatorProgram(c: Ctx): boolean {
  const authorization = c.req.header('authorization') ?? ''
  if (/^bearer /i.test(authorization)) return true
  return (
    /^basic /i.test(authorization) &&
    c.req.header('origin') === undefined &&
    c.req.header('sec-fetch-site') === undefined &&
    !browser.test(c.req.header('user-agent') ?? '')
  )
}
