import { maskNumbers } from '../mask.ts'
import { cleanOptionalText } from '../text.ts'

// Fields that replies about orders and about refunds have in common, read from whatever a provider module returned.
export type RawReply = Readonly<Record<string, unknown>>

export const maxReplyWords = 200
const maxCode = 100
const maxPauseMs = 3_600_000
const maxAmount = BigInt(Number.MAX_SAFE_INTEGER) // rows pass through JSON, whose numbers are doubles

export const isReplyAmount = (value: unknown): value is bigint =>
  typeof value === 'bigint' && value >= 0n && value <= maxAmount

export const isReplyTime = (value: unknown): value is Date =>
  value instanceof Date && value.getTime() > 0 && value.getTime() < Date.UTC(2200, 0)

export const maskedReplyText = (value: unknown, max = maxReplyWords): string | undefined => {
  const text = cleanOptionalText(value, max)
  return text && maskNumbers(text)
}

export const replyCode = ({ provider_code }: RawReply) => maskedReplyText(provider_code, maxCode)

export const replyRefusal = ({ isRefusal }: RawReply) => (isRefusal === true ? true : undefined)

export const replyPause = ({ restMs }: RawReply) =>
  typeof restMs === 'number' && restMs > 0 ? Math.min(restMs, maxPauseMs) : undefined

export const presentFields = (fields: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
