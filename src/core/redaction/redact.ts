import type { Payment } from '../payment/payment.ts'
import { readUrl } from '../text.ts'

// Personal data is removed some time after a payment has ended; what accounting and a safe retry need stays. This is the
// minimum, because notifications, the feed and messages may need the data until then.
export const leastRedactDays = 31

type Payer = Pick<Payment, 'name' | 'email' | 'number' | 'pymt_instrument'>

const removed = '(removed)'
const nationalDigits = 9 // of a phone number, without the prefix
const minNameLength = 3 // a shorter part of a name would match other words
const isSpecial = /[\\^$.*+?()[\]{}|/]/g // only these: the flag u allows no other escapes
const exactly = (text: string) => text.replace(isSpecial, '\\$&')

const numberIn = (digits: string) =>
  `\\+?(?:\\d[ .()-]{0,2}){0,5}${digits.slice(-nationalDigits).split('').join('[ .()-]{0,2}')}`

// A person whose data is looked for: a phone number in E.164 form, or an email address.
export type Person = { kind: 'phone' | 'email'; value: string }

// A pattern of the number or address in every spelling, in addresses of pages too. PostgreSQL reads it as JavaScript does.
export const personPattern = ({ kind, value }: Person): string =>
  kind === 'phone' ? numberIn(value.replace(/\D/g, '')) : exactly(value).replace('@', '(?:@|%40)')

// A pattern of all personal data of a payer, in every spelling; undefined if there is none.
export function spellingsOf(
  payer: Payer,
  instruments: readonly (string | null)[] = [],
  person?: Person,
): RegExp | undefined {
  const numbers = [payer.number, payer.pymt_instrument, ...instruments]
    .filter(number => number?.startsWith('+'))
    .map(number => numberIn((number as string).replace(/\D/g, '')))
  const parts = (payer.name ?? '').split(/\s+/).filter(part => [...part].length >= minNameLength)
  const names = [payer.name?.trim() ?? '', ...parts]
    .filter(name => name !== '')
    .map(name => `(?<![\\p{L}\\d])${exactly(name).replace(/\s+/g, '\\s+')}(?![\\p{L}\\d])`)
  const emails = payer.email ? [exactly(payer.email)] : []
  const all = [...emails, ...numbers, ...names, ...(person ? [personPattern(person)] : [])]
  return all.length > 0 ? new RegExp(all.join('|'), 'giu') : undefined
}

export const withoutPayer = (text: string, spellings: RegExp | undefined) =>
  spellings ? text.replace(spellings, removed) : text

// The URL stays usable, because late money is notified to it. Only the query, or the query and the path, are removed if they
// contain personal data.
export function addressWithoutPayer(address: string, spellings: RegExp | undefined): string {
  const url = spellings && readUrl(address)
  if (!url) return address
  const { origin, pathname } = url
  return [address, origin + pathname].find(part => !contains(decoded(part), spellings)) ?? `${origin}/`
}

const contains = (text: string, spellings: RegExp) => withoutPayer(text, spellings) !== text

function decoded(address: string): string {
  try {
    return decodeURIComponent(address.replaceAll('+', ' ')) + address
  } catch {
    return address
  }
}

// Null if the provider sent a full number instead of a masked one.
export const maskedOnly = (instrument: string | null) =>
  instrument !== null && /\d(?:[ -]?\d){8}/.test(instrument) ? null : instrument

const keptExtra = ['channel', 'wallet_issuer_hint', 'card_type', 'psp_response_code'] as const
const nulls = { email: null, mobile_no: null, Mobile_no: null, name: null, psp_response_msg: null }

// The notification body without the payer and without the merchant's extra fields.
export function bodyWithoutPayer(body: string): string {
  const notification = JSON.parse(body) as { extra?: Record<string, unknown> }
  const extra = Object.fromEntries(keptExtra.map(name => [name, notification.extra?.[name] ?? null]))
  return JSON.stringify({ ...notification, extra: { ...extra, ...nulls } })
}

// Events whose reason is written by the gateway. Other reasons may come from providers or people.
export const plainEvents = [
  'status_changed',
  'attempt_failed',
  'attempt_given_up',
  'attempt_resent',
  'overpaid',
  'receipt_resent',
] as const

const dayMs = 86_400_000

export const redactionSentence = ({ redacted_at, updated_at }: Pick<Payment, 'redacted_at' | 'updated_at'>) =>
  redacted_at &&
  `personal details were removed on ${redacted_at.toISOString().slice(0, 10)}, ${daysBetween(updated_at, redacted_at)} days after it ended`

export const daysBetween = (from: Date, to: Date) =>
  Math.max(0, Math.floor((to.getTime() - from.getTime()) / dayMs))
