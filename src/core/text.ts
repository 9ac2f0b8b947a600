import { hash } from 'node:crypto'

// Names and addresses must not contain control characters (C0, DEL, C1; line breaks and tabs too) or lone surrogates.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches them on purpose
const controls = /[\u0000-\u001f\u007f-\u009f]/

// A pair of CR and LF becomes one space.
export const onOneLine = (text: string) => text.replace(/\r\n|[\r\n\t]/g, ' ')

// Of a form field: line breaks and tabs that were pasted become spaces, and other control characters are removed.
export const withoutControlCharacters = (text: string) =>
  onOneLine(text)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches them on purpose
    .replace(/[\u0000-\u001f\u007f-\u009f]/g, '')
    .toWellFormed()

export const isPlainText = (text: string) => !controls.test(text) && text.isWellFormed()

// Counts code points: a character outside the basic plane is two units of a JavaScript string.
export const isAtMost = (text: string, max: number) => text.length <= max || [...text].length <= max

// Bidi controls change the visible order of a text, so that it looks like another one. Right-to-left scripts do not need
// them. The last six are deprecated; they change how brackets and digits are drawn.
const bidiControls = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]/g

export const stripBidiControls = (text: string) => text.replace(bidiControls, '')

// URL.canParse is not used: its optimized code in Node 20 reads Latin-1 letters as broken UTF-8 and returns false.
export function readUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

// Returns what is wrong with an address for a redirect or a notification.
export function parseUrl(text: string): string | undefined {
  if (!/^https?:\/\/[^/]/i.test(text)) return 'must be an absolute http or https URL'
  if (/[\s\\]/.test(text)) return 'must not contain spaces or backslashes'
  if (!readUrl(text)) return 'is not a valid URL'
  if (/^https?:\/\/[^/?#]*@/i.test(text)) return 'must not contain a user name or password'
  return undefined
}

export const originOf = (text: string) => readUrl(text)?.origin

// Replaces the {placeholders} of a text. Placeholders in a value are not replaced.
export const fill = (text: string, values: Readonly<Record<string, string | number>>) =>
  text.replace(/\{(\w+)\}/g, (braces, name: string) => String(values[name] ?? braces))

// With no-break spaces, so that a number stays on one line.
export const unbroken = (text: string) => text.replaceAll(' ', '\u00a0')

// Simple syntax only.
export const emailPattern = /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/
export const isEmail = (text: string) => emailPattern.test(text)

// Texts from providers and clients may contain any bytes, and they go into the database, the log and pages. PostgreSQL
// refuses NUL, and a reply that cannot be stored must not hide that money has moved. So they are cleaned first.

const maxId = 200
const readFactor = 4 // cleaning shortens a text, so this many times its maximum length is read

// One line of at most `max` characters. A value that is not a text is described.
export const cleanText = (value: unknown, max: number): string =>
  textOf(value)
    .slice(0, max * readFactor)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, max)
    .replace(/[\ud800-\udbff]$/, '') // half of a surrogate pair

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

export const cleanOptionalText = (value: unknown, max: number): string | undefined =>
  (isTextOrNumber(value) && cleanText(value, max)) || undefined

// Two different ids never become the same: characters that cannot be stored are escaped, and a long id is hashed, never
// cut. A lookup by id has to clean the id in the same way.
export function cleanId(value: unknown): string | undefined {
  if (!isTextOrNumber(value)) return undefined
  const id = String(value).replace(/[\\\p{Cc}\p{Cs}]/gu, escaped)
  return id.length > maxId || id.startsWith(hashed) ? hashed + hash('sha256', id, 'hex') : id || undefined
}

const hashed = 'sha256:'

const escaped = (char: string) =>
  char === '\\' ? '\\\\' : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

const isTextOrNumber = (value: unknown) =>
  typeof value === 'string' || typeof value === 'bigint' || Number.isFinite(value)

// The message of an error with its cause, or of any other thrown value.
export function cleanError(error: unknown, max: number): string {
  if (!(error instanceof Error)) return cleanText(error, max)
  const { message, cause } = error
  return cleanText(cause instanceof Error ? `${message}: ${cause.message}` : message, max)
}
