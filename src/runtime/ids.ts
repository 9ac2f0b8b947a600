import { randomBytes, randomFillSync } from 'node:crypto'
import type { Mode } from '../core/mode.ts'

// Ids are made here, by the program: no sequence has to be shared between nodes or shards. The alphabet is
// Crockford's: no letter that is taken for a digit when it is read out on the phone.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const merchantIdLength = 10
const timeLength = 9
const tailLength = 9
const tailLimit = 32 ** tailLength

// Random bytes are drawn in one go for many ids; each byte is used once.
const drawn = Buffer.alloc(4096)
let used = drawn.length

function draw(length: number): Buffer {
  if (used + length > drawn.length) {
    randomFillSync(drawn)
    used = 0
  }
  used += length
  return drawn.subarray(used - length, used)
}

function randomText(length: number): string {
  const bytes = draw(length)
  for (let at = 0; at < length; at++) bytes[at] = alphabet.charCodeAt((bytes[at] as number) & 31)
  return bytes.toString('latin1')
}

// Numbers below 2^53, so plain arithmetic: bit operations would cut them at 32 bits.
function spell(value: number, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest = Math.floor(rest / 32)) text = alphabet[rest % 32] + text
  return text
}

let lastTime = 0
let lastTail = 0

// The time to the millisecond, then 45 random bits that count up within one millisecond: references sort by
// time, and those of one process even within the millisecond.
export function newReference(now: Date): string {
  const time = Math.max(now.getTime(), lastTime)
  lastTail = time === lastTime ? lastTail + 1 : draw(6).readUIntBE(0, 6) % (tailLimit / 2)
  lastTime = time
  const text = (spell(time, timeLength) + spell(lastTail, tailLength)).toUpperCase()
  return `TG-${text.slice(0, 6)}-${text.slice(6, 12)}-${text.slice(12)}`
}

// 130 random bits. The merchant's id in front lets a look-up touch one shard; the minute keeps new tokens
// side by side in their index.
export function newToken(merchant_id: string, now: Date): string {
  return merchant_id + spell(Math.floor(now.getTime() / 60_000), 6) + randomText(26)
}

export const isToken = (text: string) => /^[0-9a-z]{42}$/.test(text)
export const merchantOfToken = (token: string) => token.slice(0, merchantIdLength)

// Our name of an attempt at the provider, and the secret part of the address that the provider knocks at.
export const newAttemptId = (merchant_id: string) => merchant_id + randomText(26)

export const newMerchantId = () => randomText(merchantIdLength)
export const newSecretId = () => randomText(8)
export const newVisit = () => randomText(10)
export const newRequestId = () => `req_${randomText(16)}`
export const newLeaseToken = () => randomText(16)

export const newMerchantKey = (mode: Mode) => `${mode === 'test' ? 'tk' : 'lk'}_${randomText(24)}`
export const newSecretKey = () => randomBytes(32).toString('hex')
export const newIpnPassword = () => randomBytes(24).toString('base64url')
export const newIpnSecret = () => `whsec_${randomBytes(32).toString('base64')}`
