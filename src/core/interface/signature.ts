import { createHmac, timingSafeEqual } from 'node:crypto'
import { dropTrailingZeros } from '../money.ts'
import { NumberText } from './json.ts'

// Names in alphabetical order, as the contract requires. A known merchant_key and a stored invoice_id contain no `&` or
// `=`, so no two requests have the same string.
export const requestString = (invoice_id: string, merchant_key: string, total: string) =>
  `invoice_id=${invoice_id}&merchant_key=${merchant_key}&total=${total}`

export const statusString = (invoice_id: string, merchant_key: string) =>
  `invoice_id=${invoice_id}&merchant_key=${merchant_key}`

export const refundString = (
  fields: Readonly<Record<'amount' | 'invoice_id' | 'merchant_key' | 'refund_id', string>>,
) =>
  `amount=${fields.amount}&invoice_id=${fields.invoice_id}&merchant_key=${fields.merchant_key}&refund_id=${fields.refund_id}`

export const refundCheckString = (merchant_key: string, refund_id: string) =>
  `merchant_key=${merchant_key}&refund_id=${refund_id}`

// Some clients use a hexadecimal secret as text, others as its decoded bytes.
export function keyReadings(secret: string): Buffer[] {
  const text = Buffer.from(secret, 'utf8')
  const isHex = secret.length % 2 === 0 && /^[0-9a-f]+$/i.test(secret)
  return isHex ? [text, Buffer.from(secret, 'hex')] : [text]
}

// Some clients hash a JSON number in another notation than they send it. A string has one notation.
export function totalSpellings(total: string | NumberText): string[] {
  if (typeof total === 'string') return [total]
  const match = /^(\d+)(?:\.(\d+))?$/.exec(total.text)
  if (!match) return [total.text]
  const [, whole = '', fraction = ''] = match
  const kept = dropTrailingZeros(fraction)
  const shortest = kept ? `${whole}.${kept}` : whole
  return [...new Set([total.text, shortest, `${whole}.${kept.padEnd(2, '0')}`])]
}

export const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest()

// True if any secret and any of the strings give the hash. A malformed hash takes the same time as a wrong one. If the
// hash is missing, nothing is computed.
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

// The signature of the event feed is a header, `t=<unix seconds>,v1=<hexadecimal>`. A copied URL is useless without it,
// and a copied request expires, because the time is signed too.
export const feedHeader = 'x-tollgate-signature'
export const graceSeconds = 300

// The readable parts. `sent` distinguishes the mistakes of developers.
export type FeedSignature = {
  t?: string
  hash?: string
  sent: 'whole' | 'unreadable' | 'in the address' | 'nothing'
}

// The values as sent, or empty. Neither a key nor a number contains a dot.
export const feedString = (t: string, merchant_key: string, after: string, limit: string) =>
  [t, merchant_key, after, limit].join('.')

// The time and the hash must each occur once. Other names are ignored.
export function readFeedSignature(header = '', secure_hash?: string): FeedSignature {
  if (!header) return { sent: secure_hash ? 'in the address' : 'nothing' }
  const pairs = header.split(',').map(pair => pair.trim())
  const only = (name: string) => {
    const values = pairs.filter(pair => pair.startsWith(`${name}=`)).map(pair => pair.slice(name.length + 1))
    return values.length === 1 ? values[0] : undefined
  }
  const [t = '', hash] = [only('t'), only('v1')]
  if (!/^\d{1,15}$/.test(t)) return { sent: 'unreadable' }
  return hash ? { t, hash, sent: 'whole' } : { t, sent: 'unreadable' }
}

const secondsBehind = (t: string, now: Date) => Math.floor(now.getTime() / 1000) - Number(t)

export const isInGrace = (t: string, now: Date) => Math.abs(secondsBehind(t, now)) <= graceSeconds

// What is wrong. Only a client that has the secret learns that its clock is wrong.
export function feedFault(
  { t = '', hash, sent }: FeedSignature,
  secrets: readonly Buffer[],
  text: string,
  now: Date,
) {
  if (sent === 'unreadable') return 'must be t=<unix seconds>,v1=<hexadecimal>'
  if (sent !== 'whole') return 'is missing'
  if (!isSigned(secrets, [text], hash) || isInGrace(t, now)) return 'does not match this request'
  return `its time is more than ${graceSeconds} seconds away from ours`
}

// What a developer should change, for test mode, unless the hash itself is wrong.
export function feedMistake({ t = '', sent }: FeedSignature, now: Date) {
  if (sent === 'in the address') return `a secure_hash in the address proves nothing here; send ${feedHeader}`
  if (sent === 'nothing') return `${feedHeader} was not sent`
  if (sent === 'unreadable') return 'write it as t=<unix seconds>,v1=<hexadecimal>'
  const behind = secondsBehind(t, now)
  if (isInGrace(String(Math.floor(Number(t) / 1000)), now)) return 't is in milliseconds; send seconds'
  return `t is ${Math.abs(behind)} seconds ${behind > 0 ? 'before' : 'after'} our clock; at most ${graceSeconds} are allowed`
}
