// Control characters (C0, DEL, C1) and lone surrogates have no place in a name or an address. Line breaks
// and tabs are controls too.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controls = /[\u0000-\u001f\u007f-\u009f]/

// As a text of several lines reads on one. A pair of CR and LF is one break.
export const onOneLine = (text: string) => text.replace(/\r\n|[\r\n\t]/g, ' ')

export const isPlainText = (text: string) => !controls.test(text) && text.isWellFormed()

// Characters as people count them: one outside the basic plane is two units of a JavaScript string.
export const isAtMost = (text: string, max: number) => text.length <= max || [...text].length <= max

// Marks that turn the direction of what follows: with them a stranger's words look like others. Whole scripts are written
// from the right without them. The last six are deprecated; they change how brackets and digits are drawn.
const turns = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]/g

export const stripBidiControls = (text: string) => text.replace(turns, '')

// Not by URL.canParse: once V8 has compiled a call of it, Node 20 reads Latin-1 letters as broken UTF-8 and says no.
export function readUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

// Gives back what is wrong with an address that a browser or our notifier will be sent to.
export function parseUrl(text: string): string | undefined {
  if (!/^https?:\/\/[^/]/i.test(text)) return 'must be an absolute http or https URL'
  if (/[\s\\]/.test(text)) return 'must not contain spaces or backslashes'
  if (!readUrl(text)) return 'is not a valid URL'
  if (/^https?:\/\/[^/?#]*@/i.test(text)) return 'must not contain a user name or password'
  return undefined
}

export const originOf = (text: string) => readUrl(text)?.origin

// Puts values into the {braces} of a text. A value is not read for braces again.
export const fill = (text: string, values: Readonly<Record<string, string | number>>) =>
  text.replace(/\{(\w+)\}/g, (braces, name: string) => String(values[name] ?? braces))

// A number stays on one line.
export const unbroken = (text: string) => text.replaceAll(' ', '\u00a0')

// By simple syntax: whether anybody reads it is another question.
export const emailPattern = /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/
export const isEmail = (text: string) => emailPattern.test(text)
