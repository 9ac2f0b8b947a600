import { hash } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'

const periodSeconds = 30
const window = 1 // steps before and after: the clocks of phones are a little off

const totpOf = (secret: string, email = '') =>
  new TOTP({ issuer: 'Tollgate', label: email, secret: Secret.fromBase32(secret), period: periodSeconds })

// A new key for an authenticator app, in base32.
export const newTotpSecret = () => new Secret({ size: 20 }).base32
export const isTotpSecret = (text: string) => /^[A-Z2-7]{32}$/.test(text)

// What the QR code of the setup contains.
export const totpAddress = (secret: string, email: string) => totpOf(secret, email).toString()

// The code of a time, as an authenticator app shows it.
export const totpCode = (secret: string, now: Date) => totpOf(secret).generate({ timestamp: now.getTime() })

// The time step of a valid code; undefined if the code is wrong. A step is accepted once.
export function stepOfCode(secret: string, typed: string, now: Date): bigint | undefined {
  const token = typed.replace(/\s/g, '')
  if (!/^\d{6}$/.test(token)) return undefined
  const delta = totpOf(secret).validate({ token, timestamp: now.getTime(), window })
  if (delta === null) return undefined
  return BigInt(Math.floor(now.getTime() / 1000 / periodSeconds) + delta)
}

export const recoveryCodes = 10
const codePattern = /^[0-9a-z]{16}$/

// A code has 80 random bits, so its digest needs no salt and no slow hash. Undefined if it is not shaped like a code.
export function recoveryDigest(user_id: string, typed: string): string | undefined {
  const code = typed.toLowerCase().replace(/[\s-]/g, '')
  return codePattern.test(code) ? hash('sha256', `${user_id} ${code}`, 'base64url') : undefined
}

// In groups, for writing down.
export const shownRecoveryCode = (code: string) => (code.match(/.{4}/g) ?? []).join('-')
