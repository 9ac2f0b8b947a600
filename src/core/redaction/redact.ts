import type { Attempt } from '../payment/attempt.ts'
import type { Payment } from '../payment/payment.ts'
import { decoration, parsePhone, partsOfPhone, withoutDecoration } from '../phone.ts'
import { readUrl } from '../text.ts'

// Personal data is removed some time after a payment has ended; what accounting and a safe retry need stays. This is the
// minimum, because notifications, the feed and messages may need the data until then.
export const leastRedactDays = 31

type Payer = Pick<Payment, 'name' | 'email' | 'number' | 'pymt_instrument'>

const removed = '(removed)'
const minNameLength = 3 // a shorter part of a name would match other words
const isSpecial = /[\\^$.*+?()[\]{}|/]/g // only these: the flag u allows no other escapes
const exactly = (text: string) => text.replace(isSpecial, '\\$&')

// A number, address or name in every spelling, as two patterns. PostgreSQL selects rows by the first, which finds more than
// it means. The second decides, in JavaScript: it knows where a number or address begins and ends.
export type Spelling = { rough: string; exact: string }

const separators = `[${decoration}]{0,3}`
const spaced = (digits: string) => digits.split('').join(separators)
const leastBareDigits = 8 // a shorter number without its prefix would match other numbers
const afterEscape = '(?<=%[0-9a-f]{2})' // in the address of a page: %200241234567

// No digit may stand before or after it, and no country code of another country before it.
function numberIn(phone: string): Spelling {
  const { country, national, trunk } = partsOfPhone(phone)
  const isForeign = `(?:\\+|%2b|(?<!\\d)00)(?!${country})\\d[\\d${decoration}]{0,8}`
  const begin = `(?:(?<!\\d|${isForeign})|${afterEscape})`
  const local = trunk && `|${spaced(trunk)}${separators}`
  const between = trunk && `(?:${spaced(trunk)}${separators})?`
  const prefix = `(?:(?:\\+|%2b|00)?${spaced(country)}${separators}${between}${local})`
  const rough = spaced(national)
  return { rough, exact: `${begin}${prefix}${national.length < leastBareDigits ? '' : '?'}${rough}(?!\\d)` }
}

// It is not the end of a longer name (panama@), and its domain does not go on (mail.co, mail.com).
function emailIn(email: string): Spelling {
  const rough = [...email.toWellFormed()].map(inAddresses).join('')
  const begin = '(?:(?<![\\p{L}\\p{N}_][.+%-]{0,3})|(?<=%(?!2[bde]|5f)[0-9a-f]{2}))'
  return { rough, exact: `${begin}${rough}(?![\\p{L}\\p{N}]|[.-]+[\\p{L}\\p{N}])` }
}

function inAddresses(char: string) {
  const escaped = encodeURIComponent(char)
  return escaped === char ? exactly(char) : `(?:${exactly(char)}|${escaped})`
}

function nameIn(name: string): Spelling {
  const rough = exactly(name.trim()).replace(/\s+/g, '(?:\\s|[+]|%20)+')
  return { rough, exact: `(?:(?<![\\p{L}\\d])|${afterEscape})${rough}(?![\\p{L}\\d])` }
}

// A person whose data is looked for: a phone number in E.164 form, or an email address in lower case.
export type Person = { kind: 'phone' | 'email'; value: string }

export const spellingOf = ({ kind, value }: Person): Spelling =>
  kind === 'phone' ? numberIn(value) : emailIn(value)

export type Patterns = { rough: string; exact: RegExp }

export const patternsOf = (spellings: readonly Spelling[]): Patterns => ({
  rough: spellings.map(({ rough }) => rough).join('|'),
  exact: anyOf(spellings.map(({ exact }) => exact)),
})

const anyOf = (patterns: readonly string[]) => new RegExp(patterns.join('|'), 'giu')

// Whether a column that contains nothing else is the number or address of the person. A masked number is nobody's.
export function isOfPerson({ kind, value }: Person, stored: string | null): boolean {
  if (stored === null) return false
  if (kind === 'email') return stored.trim().toLowerCase() === value
  const digits = withoutDecoration(stored)
  return parsePhone(stored) === value || (/^\d{9,15}$/.test(digits) && parsePhone(`+${digits}`) === value)
}

type PaidBy = Pick<Payment, 'number' | 'email' | 'pymt_instrument' | 'payment_instrument'>
type PaidWith = Pick<Attempt, 'instrument' | 'given'>

// A payment is that of a person by its number, email address or wallet, or by the recipient of a message about it. A payment
// that only names the person in a text or an extra field is another person's.
export const isPaymentOf = (
  person: Person,
  payment: PaidBy,
  attempts: readonly PaidWith[],
  recipients: readonly (string | null)[],
) =>
  [
    payment.number,
    payment.email,
    payment.pymt_instrument,
    payment.payment_instrument,
    ...attempts.flatMap(({ instrument, given }) => [instrument, ...Object.values(given)]),
    ...recipients,
  ].some(stored => isOfPerson(person, stored))

const minAlias = 6 // a shorter name would match other people
export const mostAliases = 40

// How else the payments of a person name him: their numbers, email addresses and full names. A name of one word is none,
// because it is the name of many.
export function aliasesOf(payers: readonly Payer[]): Spelling[] {
  const found = payers.flatMap(({ number, pymt_instrument, email, name }) => [
    ...[number, pymt_instrument].flatMap(phone => (phone?.startsWith('+') ? [numberIn(phone)] : [])),
    ...(email ? [emailIn(email)] : []),
    ...(name && name.trim().length >= minAlias && /\S\s+\S/.test(name.trim()) ? [nameIn(name)] : []),
  ])
  return [...new Map(found.map(one => [one.exact, one])).values()].slice(0, mostAliases)
}

// A pattern of all personal data of a payer, in every spelling; undefined if there is none.
export function spellingsOf(
  payer: Payer,
  instruments: readonly (string | null)[] = [],
  person?: Person,
): RegExp | undefined {
  const numbers = [payer.number, payer.pymt_instrument, ...instruments]
    .filter(number => number?.startsWith('+'))
    .map(number => numberIn(number as string))
  const parts = (payer.name ?? '').split(/\s+/).filter(part => [...part].length >= minNameLength)
  const names = [payer.name?.trim() ?? '', ...parts]
    .filter(name => name !== '')
    .map(name => `(?<![\\p{L}\\d])${exactly(name).replace(/\s+/g, '\\s+')}(?![\\p{L}\\d])`)
  const emails = payer.email ? [emailIn(payer.email)] : []
  const spellings = [...emails, ...numbers, ...(person ? [spellingOf(person)] : [])]
  const all = [...spellings.map(({ exact }) => exact), ...names]
  return all.length > 0 ? anyOf(all) : undefined
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

// The texts in a value of any form that contain the person, with the names of their fields; undefined if none does.
export function textsNaming(value: unknown, spellings: RegExp): unknown {
  if (typeof value === 'string') return contains(value, spellings) ? value : undefined
  if (typeof value !== 'object' || value === null || value instanceof Date) return undefined
  const found = Object.entries(value).flatMap(([name, inner]) => {
    const texts = textsNaming(inner, spellings) ?? (contains(name, spellings) ? inner : undefined)
    return texts === undefined ? [] : [[name, texts] as const]
  })
  if (found.length === 0) return undefined
  return Array.isArray(value) ? found.map(([, texts]) => texts) : Object.fromEntries(found)
}

// The same value without the person in its texts and in the names of its fields.
export function valueWithoutPayer(value: unknown, spellings: RegExp): unknown {
  if (typeof value === 'string') return withoutPayer(value, spellings)
  if (Array.isArray(value)) return value.map(one => valueWithoutPayer(one, spellings))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      withoutPayer(name, spellings),
      valueWithoutPayer(inner, spellings),
    ]),
  )
}

function decoded(address: string): string {
  try {
    return `${decodeURIComponent(address.replaceAll('+', ' '))}\n${address}`
  } catch {
    return address
  }
}

// Null if the provider sent a full number instead of a masked one.
export const maskedOnly = (instrument: string | null) =>
  instrument !== null && /\d(?:[ -]?\d){8}/.test(instrument) ? null : instrument

const keptExtra = ['channel', 'wallet_issuer_hint', 'card_type', 'psp_response_code'] as const
const nulls = { email: null, mobile_no: null, Mobile_no: null, name: null, psp_response_msg: null }

// The notification body without the payer and without the merchant's extra fields. A refund or a dispute has no `extra`.
export function bodyWithoutPayer(body: string, spellings?: RegExp): string {
  const notification = JSON.parse(body) as { extra?: Record<string, unknown> } & Record<string, unknown>
  const redacted = { ...notification }
  for (const name of ['reason', 'status_reason', 'state_reason']) {
    const text = notification[name]
    if (typeof text === 'string') redacted[name] = withoutPayer(text, spellings)
  }
  const { extra } = notification
  if (extra) {
    const kept = Object.fromEntries(keptExtra.map(name => [name, extra[name] ?? null]))
    redacted.extra = { ...kept, ...nulls }
  }
  return JSON.stringify(redacted)
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
