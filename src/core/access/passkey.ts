import { formTokenOf, isFormToken } from '../formOrigin.ts'
import { readUrl } from '../text.ts'

export type Passkey = {
  passkey_id: string // the credential id of the authenticator
  user_id: string
  name: string
  public_key: Buffer
  sign_count: bigint // of the last use; a lower one reveals a copy
  created_at: Date
  used_at: Date | null
}

export const maxPasskeys = 10 // of one user
export const maxPasskeyName = 60
export const challengeSeconds = 300

export type PasskeySite = { rpId: string; origin: string }

// Browsers have passkeys for the names of hosts only, over https or on this machine. Undefined elsewhere.
export function passkeySite(baseUrl: string): PasskeySite | undefined {
  const url = readUrl(baseUrl)
  if (!url || /^\[|^[\d.]+$/.test(url.hostname)) return undefined // an IP address
  const isSecure = url.protocol === 'https:' || url.hostname === 'localhost'
  return isSecure ? { rpId: url.hostname, origin: url.origin } : undefined
}

// `of` is the session that registers a passkey; empty at sign-in.
type Challenge = { challenge: string; of: string }

const signatureOf = (key: Buffer, { challenge, of }: Challenge, expires: string) =>
  formTokenOf(key, ['passkey', of, challenge, expires])

// For a cookie: it binds the challenge to the browser, and to the session.
export function challengeProof(key: Buffer, challenge: Challenge, now: Date): string {
  const expires = String(Math.floor(now.getTime() / 1000) + challengeSeconds)
  return `${challenge.challenge}.${expires}.${signatureOf(key, challenge, expires)}`
}

// The challenge of a proof, if it is still valid.
export function provenChallenge(key: Buffer, proof: string, of: string, now: Date): string | undefined {
  const [, challenge, expires, signature] = /^([\w-]{43})\.(\d{1,12})\.([\w-]{43})$/.exec(proof) ?? []
  if (challenge === undefined || expires === undefined) return undefined
  if (Number(expires) * 1000 <= now.getTime()) return undefined
  return isFormToken(signatureOf(key, { challenge, of }, expires), signature) ? challenge : undefined
}
