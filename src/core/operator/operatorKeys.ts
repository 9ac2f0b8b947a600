import { createHmac, hash, timingSafeEqual } from 'node:crypto'

// The keys of the operator's pages.
export type OperatorKeys = {
  supportToken: string // the token in force
  oldSupportToken?: string // still accepted while clients change to the new one
  isTokenSet: boolean // by TOLLGATE_SUPPORT_TOKEN, instead of the stored token
  sessionKey: Buffer // signs the cookie
  linkKey: Buffer // keys the digests of single-use links
  selfCheckKey: Buffer // signs the question of doctor and its answer: selfCheck.ts
}

// The session key depends on the token in force, so that a changed token ends every session. It also depends on the stored
// token, which is random, so that a short TOLLGATE_SUPPORT_TOKEN cannot be guessed offline from a cookie. The link key
// depends on the stored token only, so that a command can make a link without TOLLGATE_SUPPORT_TOKEN.
export const operatorKeys = (
  storedToken: string,
  [setToken, oldSupportToken]: readonly string[] = [],
): OperatorKeys => ({
  supportToken: setToken ?? storedToken,
  oldSupportToken,
  isTokenSet: setToken !== undefined,
  sessionKey: hmac(storedToken, `support session ${setToken ?? storedToken}`),
  linkKey: hmac(storedToken, 'support link'),
  selfCheckKey: hmac(storedToken, 'self-check'),
})

export const sessionSeconds = 7 * 24 * 3600

// Browsers accept the prefix __Host- only together with Secure.
export const isSecureAddress = (baseUrl: string) => baseUrl.startsWith('https:')
export const sessionCookie = (baseUrl: string) =>
  isSecureAddress(baseUrl) ? '__Host-tollgate_support' : 'tollgate_support'

// The value of the cookie: when it expires, and a signature of that.
export function newSession(
  { sessionKey }: Pick<OperatorKeys, 'sessionKey'>,
  now: Date,
  seconds = sessionSeconds,
): string {
  const expires = String(Math.floor(now.getTime() / 1000) + seconds)
  return `${expires}.${signed(sessionKey, expires)}`
}

export function isSession(
  { sessionKey }: Pick<OperatorKeys, 'sessionKey'>,
  value: string | undefined,
  now: Date,
): boolean {
  const [, expires, signature] = /^(\d{1,12})\.([\w-]{43})$/.exec(value ?? '') ?? []
  if (expires === undefined || signature === undefined) return false
  return isSameSecret(signature, signed(sessionKey, expires)) && Number(expires) * 1000 > now.getTime()
}

export const linkMinutes = 15
const linkPattern = /^[\w-]{22}$/ // 128 random bits

export const isLinkShaped = (link: string) => linkPattern.test(link)
export const linkDigest = ({ linkKey }: Pick<OperatorKeys, 'linkKey'>, link: string) => signed(linkKey, link)
export const linkAddress = (baseUrl: string, link: string) => `${baseUrl}/support/enter?link=${link}`

// The digests have the same length, so the time of the comparison depends on neither secret.
export const isSameSecret = (one: string, other: string) => timingSafeEqual(digest(one), digest(other))

const digest = (text: string) => Buffer.from(hash('sha256', text, 'hex'), 'hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
export const signed = (key: Buffer, text: string) => hmac(key, text).toString('base64url')
