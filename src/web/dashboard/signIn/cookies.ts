import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { serialize } from 'hono/utils/cookie'
import type { SignedInNow, SigningBrowser } from '../../../actions/access/signIn.ts'
import { challengeSeconds } from '../../../core/access/passkey.ts'
import { deviceSeconds, pendingSeconds } from '../../../core/access/signInTokens.ts'
import { sessionTimes } from '../../../core/access/user.ts'
import { isSecureAddress } from '../../../core/operator/operatorKeys.ts'
import type { Ctx } from '../../http/context.ts'
import { userCookie } from '../userCookie.ts'

// Browsers accept the prefix __Host- only together with Secure.
const nameOf = (baseUrl: string, name: string) => (isSecureAddress(baseUrl) ? `__Host-${name}` : name)
const pendingName = 'tollgate_sign_in'
const passkeyName = 'tollgate_passkey'
const deviceName = 'tollgate_browser'

const options = (baseUrl: string) =>
  ({ path: '/', httpOnly: true, sameSite: 'Lax', secure: isSecureAddress(baseUrl) }) as const

export const setSession = (c: Ctx, baseUrl: string, id: string) =>
  setCookie(c, userCookie(baseUrl), id, { ...options(baseUrl), maxAge: sessionTimes.absoluteMs / 1000 })

// For a page that is sent with its own headers.
export const sessionCookieText = (baseUrl: string, id: string) =>
  serialize(userCookie(baseUrl), id, { ...options(baseUrl), maxAge: sessionTimes.absoluteMs / 1000 })

export function endCookies(c: Ctx, baseUrl: string) {
  deleteCookie(c, userCookie(baseUrl), options(baseUrl))
  deleteCookie(c, nameOf(baseUrl, pendingName), options(baseUrl))
}

// The new session replaces whatever the browser had.
export function setSignedIn(c: Ctx, baseUrl: string, { sessionId, deviceMark }: SignedInNow) {
  setSession(c, baseUrl, sessionId)
  deleteCookie(c, nameOf(baseUrl, pendingName), options(baseUrl))
  setCookie(c, nameOf(baseUrl, deviceName), deviceMark, { ...options(baseUrl), maxAge: deviceSeconds })
}

export const setPending = (c: Ctx, baseUrl: string, pending: string) =>
  setCookie(c, nameOf(baseUrl, pendingName), pending, { ...options(baseUrl), maxAge: pendingSeconds })

export const pendingIn = (c: Ctx, baseUrl: string) => getCookie(c, nameOf(baseUrl, pendingName)) ?? ''

export const browserOf = (
  c: Ctx,
  baseUrl: string,
  { address, agent }: { address: string; agent: string },
): SigningBrowser => ({
  address,
  agent,
  deviceMark: getCookie(c, nameOf(baseUrl, deviceName)),
  sessionId: getCookie(c, userCookie(baseUrl)),
})

export const setPasskeyProof = (c: Ctx, baseUrl: string, proof: string) =>
  setCookie(c, nameOf(baseUrl, passkeyName), proof, { ...options(baseUrl), maxAge: challengeSeconds })

// The proof of the challenge, which this browser gives up with its answer.
export function takePasskeyProof(c: Ctx, baseUrl: string): string {
  const proof = getCookie(c, nameOf(baseUrl, passkeyName)) ?? ''
  deleteCookie(c, nameOf(baseUrl, passkeyName), options(baseUrl))
  return proof
}
