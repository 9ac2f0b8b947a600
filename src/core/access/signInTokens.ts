import { createHmac, hash, timingSafeEqual } from 'node:crypto'

// Two signed values that a browser keeps besides its session. Neither opens a page.

const pendingMinutes = 10
const deviceDays = 180
export const deviceSeconds = deviceDays * 86_400
export const pendingSeconds = pendingMinutes * 60

const mac = (key: Buffer, parts: readonly string[]) =>
  createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url')

function isSame(one: string, other: string) {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

// The state between the password and the second factor. It ends when the password changes.
export function newPendingSignIn(key: Buffer, user_id: string, password_hash: string, now: Date): string {
  const expires = Math.floor(now.getTime() / 1000) + pendingSeconds
  return `${user_id}.${expires}.${mac(key, ['pending', user_id, String(expires), password_hash])}`
}

// The user of the value, before it is known whether the value is right.
export const claimedUser = (value: string) => /^(u_[0-9a-z]{12})\./.exec(value)?.[1]

export function isPendingSignIn(key: Buffer, value: string, password_hash: string, now: Date): boolean {
  const [user_id = '', expires = '', sent = ''] = value.split('.')
  if (!/^\d{1,12}$/.test(expires) || Number(expires) * 1000 <= now.getTime()) return false
  return isSame(sent, mac(key, ['pending', user_id, expires, password_hash]))
}

// Marks a browser that has signed in to an account, so that it has its own limit of wrong passwords.
export function newDeviceMark(key: Buffer, email: string, salt: string, now: Date): string {
  const expires = Math.floor(now.getTime() / 1000) + deviceSeconds
  return `${salt}.${expires}.${mac(key, ['device', email, salt, String(expires)])}`
}

// The key of its limit; undefined if the mark is of another account, expired or forged.
export function deviceOf(
  key: Buffer,
  value: string | undefined,
  email: string,
  now: Date,
): string | undefined {
  const [salt = '', expires = '', sent = ''] = (value ?? '').slice(0, 200).split('.')
  if (!/^\d{1,12}$/.test(expires) || Number(expires) * 1000 <= now.getTime()) return undefined
  return isSame(sent, mac(key, ['device', email, salt, expires]))
    ? hash('sha256', sent, 'base64url')
    : undefined
}

// The key of an account's limit. Its length does not depend on what was typed.
export const accountKey = (email: string) => hash('sha256', email, 'base64url')
