import { hash } from 'node:crypto'

// What others tell us goes into our books, our log and onto pages, and it may be made of any bytes. PostgreSQL refuses a
// NUL; an answer that cannot be written down must not hide that money has moved.

const maxId = 200
const readShare = 4 // so many times of what is kept is looked at: cleaning makes a text shorter

// Words for people: one line, at most so long. What is no text at all is named.
export const cleanText = (told: unknown, max: number): string =>
  wordsOf(told)
    .slice(0, max * readShare)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, max)
    .replace(/[\ud800-\udbff]$/, '') // half of a character

function wordsOf(told: unknown): string {
  if (typeof told === 'string') return told
  return typeof told === 'object' && told !== null ? 'an object' : String(told)
}

// Words that may be missing.
export const cleanWords = (told: unknown, max: number): string | undefined =>
  (isWord(told) && cleanText(told, max)) || undefined

// By an id a stranger knows something again, so two never become one: what cannot be kept as it is is escaped, and what
// is too long is hashed, never cut. Whoever looks for one passes it through here, too.
export function cleanId(told: unknown): string | undefined {
  if (!isWord(told)) return undefined
  const id = String(told).replace(/[\\\p{Cc}\p{Cs}]/gu, escaped)
  return id.length > maxId || id.startsWith(hashed) ? hashed + hash('sha256', id, 'hex') : id || undefined
}

const hashed = 'sha256:'

const escaped = (char: string) =>
  char === '\\' ? '\\\\' : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

const isWord = (told: unknown) =>
  typeof told === 'string' || typeof told === 'bigint' || Number.isFinite(told)

// What went wrong on the way to somebody, from an error or whatever else was thrown.
export function cleanError(error: unknown, max: number): string {
  if (!(error instanceof Error)) return cleanText(error, max)
  const { message, cause } = error
  return cleanText(cause instanceof Error ? `${message}: ${cause.message}` : message, max)
}
