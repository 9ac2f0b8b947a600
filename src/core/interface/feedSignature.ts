import { isSigned, likelyMistake } from './signature.ts'

// How a question to the event feed is signed: `t=<unix seconds>,v1=<hexadecimal>`, in a header. The time is signed too,
// so that an address that somebody copies is worth nothing, and a whole request not for long.
export const feedHeader = 'x-tollgate-signature'
export const graceSeconds = 300

// What of it could be read. `sent` tells a developer's mistakes apart.
export type FeedSignature = {
  t?: string
  hash?: string
  sent: 'whole' | 'unreadable' | 'in the address' | 'nothing'
}

// The values as they were sent, empty where they were not. No key has a dot, and neither has a number.
export const feedString = (t: string, merchant_key: string, after: string, limit: string) =>
  [t, merchant_key, after, limit].join('.')

// One time and one value; names that we do not know yet are passed over.
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

// What is wrong, for anybody. Only whoever has the secret is told of a clock.
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

// What a developer most likely did, told only in test mode.
export function feedMistake(
  { t = '', hash, sent }: FeedSignature,
  secrets: readonly Buffer[],
  text: string,
  now: Date,
) {
  if (sent === 'in the address') return `a secure_hash in the address proves nothing here; send ${feedHeader}`
  if (sent === 'nothing') return `${feedHeader} was not sent`
  if (sent === 'unreadable') return 'write it as t=<unix seconds>,v1=<hexadecimal>'
  if (!isSigned(secrets, [text], hash)) return likelyMistake(hash, secrets, text, 'v1')
  const behind = secondsBehind(t, now)
  if (isInGrace(String(Math.floor(Number(t) / 1000)), now)) return 't is in milliseconds; send seconds'
  return `t is ${Math.abs(behind)} seconds ${behind > 0 ? 'before' : 'after'} our clock; ${graceSeconds} are let pass`
}
