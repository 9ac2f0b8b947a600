import { type Fields, NumberText } from '../json.ts'

// The texts that developers hash instead of the right one, built from the fields that they sent.
export type Pair = readonly [name: string, value: string]
export type WrongText = { mistake: string; wrong: string; text: string }

export const joinPairs = (pairs: readonly Pair[], equals = '=', and = '&') =>
  pairs.map(([name, value]) => name + equals + value).join(and)

const maxPermuted = 4 // of more, only the reversed order is tried
export const maxSignedLength = 1000 // of a text that is tried in other spellings

export const namesOf = (pairs: readonly Pair[]) => pairs.map(([name]) => name).join(', ')

// All orders but the given one.
export function otherOrders<T>(items: readonly T[]): T[][] {
  if (items.length > maxPermuted) return [items.toReversed()]
  const all = (rest: readonly T[]): T[][] =>
    rest.length < 2
      ? [[...rest]]
      : rest.flatMap((first, at) => all(rest.toSpliced(at, 1)).map(tail => [first, ...tail]))
  return all(items).slice(1)
}

// How an amount is written otherwise. Empty if it is not an amount.
export function otherTotals(total: string): string[] {
  const [, whole = '', fraction = ''] =
    /^(\d{1,15})(?:\.(\d{1,10}))?$/.exec(total.replace(/[\s,]/g, '')) ?? []
  if (whole === '') return []
  const kept = fraction.replace(/0+$/, '')
  const two = kept.padEnd(2, '0')
  const short = whole.replace(/^0+(?=\d)/, '')
  const grouped = short.replace(/\B(?=(\d{3})+$)/g, ',')
  const spellings = [
    `${short}.${two}`,
    kept ? `${short}.${kept}` : short,
    `${short}.${kept || '0'}`,
    `${short}.${kept.padEnd(3, '0')}`,
    `${grouped}.${two}`,
    grouped,
    `${short},${two}`,
    `${short}${two}`.replace(/^0+(?=\d)/, ''),
    total.trim(),
  ]
  return [...new Set(spellings)].filter(spelling => spelling !== total)
}

// A JSON text of the fields, with numbers as they were sent.
export function jsonText(fields: Fields, style: { colon: string; comma: string }): string {
  const parts = Object.entries(fields).map(
    ([name, value]) => JSON.stringify(name) + style.colon + jsonValue(value, style),
  )
  return `{${parts.join(style.comma)}}`
}

function jsonValue(value: unknown, style: { colon: string; comma: string }): string {
  if (value instanceof NumberText) return value.text
  if (Array.isArray(value)) return `[${value.map(item => jsonValue(item, style)).join(style.comma)}]`
  if (typeof value === 'object' && value !== null) return jsonText(value as Fields, style)
  return JSON.stringify(value) ?? 'null'
}

export const jsonStyles: readonly { colon: string; comma: string }[] = [
  { colon: ':', comma: ',' },
  { colon: ': ', comma: ', ' }, // Python's default
]

const pretty = (pairs: readonly Pair[], indent: number) =>
  JSON.stringify(Object.fromEntries(pairs), undefined, indent)

const asNumber = (value: string) => (/^\d{1,15}(\.\d+)?$/.test(value) ? new NumberText(value) : value)

// The pairs as JSON, with the amount as text and as a number.
export function jsonOfPairs(pairs: readonly Pair[]): string[] {
  const texts: Fields = Object.fromEntries(pairs)
  const numbers: Fields = Object.fromEntries(
    pairs.map(([name, value]) => [name, name === 'total' || name === 'amount' ? asNumber(value) : value]),
  )
  return [
    ...jsonStyles.flatMap(style => [jsonText(texts, style), jsonText(numbers, style)]),
    pretty(pairs, 2),
    pretty(pairs, 4),
  ]
}

// Values as a form encodes them.
export const formEncoded = (value: string) => encodeURIComponent(value.toWellFormed()).replaceAll('%20', '+')

const camelCase = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

export const otherNames = (pairs: readonly Pair[]): [string, Pair[]][] => [
  ['camelCase', pairs.map(([name, value]) => [camelCase(name), value])],
  ['capital letters', pairs.map(([name, value]) => [name.toUpperCase(), value])],
  [
    'capitalised',
    pairs.map(([name, value]) => [name.replace(/^[a-z]/, first => first.toUpperCase()), value]),
  ],
  ['without underscores', pairs.map(([name, value]) => [name.replaceAll('_', ''), value])],
]

const wrongText = (mistake: string, wrong: string, text: string): WrongText => ({ mistake, wrong, text })

// What programs and shells add around a text, and how they encode all of it.
export function decorated(text: string): WrongText[] {
  return [
    wrongText('line_break', 'the text ends with a line break (echo adds one; use printf %s)', `${text}\n`),
    wrongText('line_break', 'the text ends with a line break', `${text}\r\n`),
    wrongText('outer_space', 'the text ends with a space', `${text} `),
    wrongText('outer_space', 'the text begins with a space', ` ${text}`),
    wrongText('outer_quotes', 'the text is in quotes', `"${text}"`),
    wrongText('outer_quotes', 'the text is in quotes', `'${text}'`),
    wrongText('extra_sign', 'the text ends with &', `${text}&`),
    wrongText('extra_sign', 'the text begins with ?', `?${text}`),
    wrongText('extra_sign', 'the text begins with &', `&${text}`),
    wrongText('url_encoded', 'the whole text is URL-encoded', encodeURIComponent(text.toWellFormed())),
    wrongText('html_encoded', '& is written as &amp;', text.replaceAll('&', '&amp;')),
    wrongText('letter_case', 'the text is in lower case', text.toLowerCase()),
    wrongText('letter_case', 'the text is in upper case', text.toUpperCase()),
  ]
}

export function distinct(right: readonly string[], texts: readonly WrongText[]): WrongText[] {
  const seen = new Set(right)
  return texts.filter(({ text }) => text !== '' && seen.size < seen.add(text).size)
}

export const textOf = (value: unknown): string =>
  value instanceof NumberText ? value.text : typeof value === 'string' ? value : ''
