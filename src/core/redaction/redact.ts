import type { Payment } from '../payment/payment.ts'
import { readUrl } from '../text.ts'

// What is known of a person goes some time after a payment has ended; what accounts and a safe retry need stays. Not
// sooner than this: younger ones may still be delivered, read from the feed or told to their customer.
export const leastRedactDays = 31

export type Payer = Pick<Payment, 'name' | 'email' | 'number' | 'pymt_instrument'>

const removed = '(removed)'
const nationalDigits = 9 // of a number, however its beginning is written
const shortestName = 3 // a part of a name that is shorter is a word of its own
const isSpecial = /[\\^$.*+?()[\]{}|/]/g // and nothing else: a pattern in Unicode takes no needless escape
const exactly = (text: string) => text.replace(isSpecial, '\\$&')

const numberIn = (digits: string) =>
  `\\+?(?:\\d[ .()-]{0,2}){0,5}${digits.slice(-nationalDigits).split('').join('[ .()-]{0,2}')}`

// Every spelling of what is known of a payer; undefined when nothing is.
export function spellingsOf(payer: Payer, instruments: readonly (string | null)[] = []): RegExp | undefined {
  const numbers = [payer.number, payer.pymt_instrument, ...instruments]
    .filter(number => number?.startsWith('+'))
    .map(number => numberIn((number as string).replace(/\D/g, '')))
  const parts = (payer.name ?? '').split(/\s+/).filter(part => [...part].length >= shortestName)
  const names = [payer.name?.trim() ?? '', ...parts]
    .filter(name => name !== '')
    .map(name => `(?<![\\p{L}\\d])${exactly(name).replace(/\s+/g, '\\s+')}(?![\\p{L}\\d])`)
  const all = [...(payer.email ? [exactly(payer.email)] : []), ...numbers, ...names]
  return all.length > 0 ? new RegExp(all.join('|'), 'giu') : undefined
}

export const withoutPayer = (words: string, spellings: RegExp | undefined) =>
  spellings ? words.replace(spellings, removed) : words

// An address is left as it is, because money that comes late is told there; only what holds something of the payer's is
// cut from its end.
export function addressWithoutPayer(address: string, spellings: RegExp | undefined): string {
  const url = spellings && readUrl(address)
  if (!url) return address
  const { origin, pathname } = url
  return [address, origin + pathname].find(part => !holds(decoded(part), spellings)) ?? `${origin}/`
}

const holds = (text: string, spellings: RegExp) => withoutPayer(text, spellings) !== text

function decoded(address: string): string {
  try {
    return decodeURIComponent(address.replaceAll('+', ' ')) + address
  } catch {
    return address
  }
}

// A provider that tells a whole number in place of a masked one is not believed to have masked it.
export const maskedOnly = (instrument: string | null) =>
  instrument !== null && /\d(?:[ -]?\d){8}/.test(instrument) ? null : instrument

const kept = ['channel', 'wallet_issuer_hint', 'card_type', 'psp_response_code'] as const
const nulls = { email: null, mobile_no: null, Mobile_no: null, name: null, psp_response_msg: null }

// The notification as it would have been written without a payer, and without what the merchant sent along.
export function bodyWithoutPayer(body: string): string {
  const told = JSON.parse(body) as { extra?: Record<string, unknown> }
  const extra = Object.fromEntries(kept.map(name => [name, told.extra?.[name] ?? null]))
  return JSON.stringify({ ...told, extra: { ...extra, ...nulls } })
}

// Words of events that are ours alone; others may be a stranger's.
export const plainEvents = [
  'status_changed',
  'attempt_failed',
  'attempt_given_up',
  'attempt_resent',
  'overpaid',
  'receipt_resent',
] as const

const dayMs = 86_400_000

export const redactedWords = ({ redacted_at, updated_at }: Pick<Payment, 'redacted_at' | 'updated_at'>) =>
  redacted_at &&
  `personal details were removed on ${redacted_at.toISOString().slice(0, 10)}, ${daysBetween(updated_at, redacted_at)} days after it ended`

export const daysBetween = (from: Date, to: Date) =>
  Math.max(0, Math.floor((to.getTime() - from.getTime()) / dayMs))
