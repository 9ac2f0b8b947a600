import { createHmac, timingSafeEqual } from 'node:crypto'
import { withoutZeros } from '../money.ts'
import { NumberText } from './json.ts'

// Names in alphabetical order, as the contract asks. `&` and `=` cannot occur in a known merchant_key, nor
// in an invoice_id that we store, so no two requests share one string.
export const requestString = (invoice_id: string, merchant_key: string, total: string) =>
  `invoice_id=${invoice_id}&merchant_key=${merchant_key}&total=${total}`

export const statusString = (invoice_id: string, merchant_key: string) =>
  `invoice_id=${invoice_id}&merchant_key=${merchant_key}`

// Clients differ in how they read a secret that is hexadecimal: as text, or as the bytes it spells.
export function keyReadings(secret: string): Buffer[] {
  const text = Buffer.from(secret, 'utf8')
  const isHex = secret.length % 2 === 0 && /^[0-9a-f]+$/i.test(secret)
  return isHex ? [text, Buffer.from(secret, 'hex')] : [text]
}

// A JSON number has lost its spelling in some clients before they hashed it; a string never has.
export function totalSpellings(total: string | NumberText): string[] {
  if (typeof total === 'string') return [total]
  const match = /^(\d+)(?:\.(\d+))?$/.exec(total.text)
  if (!match) return [total.text]
  const [, whole = '', fraction = ''] = match
  const kept = withoutZeros(fraction)
  const shortest = kept ? `${whole}.${kept}` : whole
  return [...new Set([total.text, shortest, `${whole}.${kept.padEnd(2, '0')}`])]
}

export const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest()

// True when any secret over any of the strings gives the hash. A hash of the wrong form costs the same; without any,
// nothing is hashed for anybody.
export function isSigned(
  secrets: readonly Buffer[],
  strings: readonly string[],
  hash: string | undefined,
): boolean {
  if (hash === undefined) return false
  const wellFormed = /^[0-9a-f]{64}$/i.test(hash)
  const sent = wellFormed ? Buffer.from(hash, 'hex') : Buffer.alloc(32)
  return secrets.some(key => strings.some(text => timingSafeEqual(hmac(key, text), sent))) && wellFormed
}

// What a developer most likely did, told only in test mode. It never needs the secret to say so.
export function likelyMistake(
  hash: string | undefined,
  secrets: readonly Buffer[],
  text: string,
  name = 'secure_hash',
): string {
  if (!hash) return `${name} was not sent`
  if (!/^[0-9a-f]+$/i.test(hash))
    return looksBase64(hash, secrets, text)
      ? 'the hash is right but base64; send it as hexadecimal'
      : `${name} is not hexadecimal`
  if (hash.length !== 64) return `${name} has ${hash.length} characters; HMAC-SHA-256 in hexadecimal has 64`
  const reversed = text.split('&').toReversed().join('&')
  if (isSigned(secrets, [reversed], hash))
    return `the names are not in alphabetical order: ${namesIn(text).join(', ')}`
  const spelling = namesIn(text).includes('total') ? ' (check the spelling of total)' : ''
  return `another secret_key, or other values than those in the string above${spelling}`
}

const namesIn = (text: string) => text.split('&').map(pair => pair.split('=')[0] ?? '')

const looksBase64 = (hash: string, secrets: readonly Buffer[], text: string) =>
  /^[A-Za-z0-9+/]{43}=$/.test(hash) &&
  secrets.some(key => timingSafeEqual(hmac(key, text), Buffer.from(hash, 'base64')))
