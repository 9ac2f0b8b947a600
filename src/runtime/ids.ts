import { createHash, randomBytes, randomFillSync } from 'node:crypto'
import type { Mode } from '../core/mode.ts'
import { alphabet, reference, spell, tailLimit } from '../core/payment/reference.ts'
import { takenFormLength } from '../core/payment/takenPayment.ts'

// Ids are made by the program, so that nodes and shards share no sequence.
const merchantIdLength = 10

// Random bytes are read in blocks, because each call is expensive. Each byte is used once.
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

const longestStepMs = 60_000
let lastTime = 0
let lastTail = 0

// The time, then random bits. Within one millisecond the bits count up, so that the references of one process sort by
// their creation, also when the clock is corrected by less than a minute. After a clock that was far ahead, references
// return to the correct time.
export function newReference(now: Date): string {
  const time = lastTime - now.getTime() < longestStepMs ? Math.max(now.getTime(), lastTime) : now.getTime()
  lastTail = time === lastTime ? lastTail + 1 : draw(6).readUIntBE(0, 6) % (tailLimit / 2)
  lastTime = time
  return reference(time, lastTail)
}

// 130 random bits. The merchant's id comes first, so that a lookup reads one shard. The minute comes next, so that new
// tokens are neighbours in their index.
export function newToken(merchant_id: string, now: Date): string {
  return merchant_id + spell(Math.floor(now.getTime() / 60_000), 6) + randomText(26)
}

export const isToken = (text: string) => /^[0-9a-z]{42}$/.test(text)
export const merchantOfToken = (token: string) => token.slice(0, merchantIdLength)

// The provider's order id, and the secret part of the callback URL.
export const newAttemptId = (merchant_id: string) => merchant_id + randomText(26)

// Our id of a refund. The merchant's id comes first, as in an attempt_id.
export const newRefundReference = (merchant_id: string) => merchant_id + randomText(26)

// The reference of the refund that retries a failed one. It is always the same, so a failed refund is retried once.
export function retryReference(refund_reference: string): string {
  const digest = createHash('sha256').update(`retry ${refund_reference}`).digest()
  const text = Array.from(digest.subarray(0, 26), byte => alphabet[byte & 31]).join('')
  return refund_reference.slice(0, merchantIdLength) + text
}

export const newMerchantId = () => randomText(merchantIdLength)
export const isMerchantId = (text: string) => /^[0-9a-z]{10}$/.test(text)
export const newUserId = () => `u_${randomText(12)}`
export const newUserLinkId = () => randomText(16)
export const newUserMailId = () => `um_${randomText(16)}`
export const newRecoveryCode = () => randomText(16)
export const newAccountName = (provider: string) => `${provider}-${randomText(6)}`
export const newBusinessId = () => randomText(16)
export const newSecretId = () => randomText(8)
export const newInvoiceId = () => `CLI-${randomText(12)}`
export const newTriggerInvoice = () => `TEST-${randomText(12)}`
export const newTakenForm = () => randomText(takenFormLength)
export const newVisit = () => randomText(10)
export const newRequestId = () => `req_${randomText(16)}`
export const isRequestId = (text: string) => /^req_[0-9a-z]{16}$/.test(text)
export const newLeaseToken = () => randomText(16)

export const newMerchantKey = (mode: Mode) => `${mode === 'test' ? 'tk' : 'lk'}_${randomText(24)}`
export const newSecretKey = () => randomBytes(32).toString('hex')
export const newIpnPassword = () => randomBytes(24).toString('base64url')
export const newIpnSecret = () => `whsec_${randomBytes(32).toString('base64')}`

// The reference of the refund with this number among those of a payment. It is the same for every form that shows the
// payment as it is now, so that a form submitted twice, or in two tabs, makes one refund.
export function refundReferenceOf(merchant_id: string, tx_reference: string, number: number): string {
  const digest = createHash('sha256').update(`refund ${number} of ${tx_reference}`).digest()
  return merchant_id + Array.from(digest.subarray(0, 26), byte => alphabet[byte & 31]).join('')
}
