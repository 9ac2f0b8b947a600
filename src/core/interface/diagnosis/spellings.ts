import { type Fields, NumberText } from '../json.ts'

// The texts that developers hash instead of the right one, built from the fields that they sent.
export type Pair = readonly [name: string, value: string]
export type WrongText = { mistake: string; wrong: string; text: string }

export const joinPairs = (pairs: readonly Pair[], equals = '=', and = '&') =>
  pairs.map(([name, value]) => name + equals + value).join(and)

export const namesOf = (pairs: readonly Pair[]) => pairs.map(([name]) => name).join(', ')

// All orders but the given one.
export function otherOrders<T>(items: readonly T[]): T[][] {
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

// The pairs as JSON, with the amount as text and as a number.
export function jsonOfPairs(pairs: readonly Pair[]): string[] {
  const number = (value: string) => (/^\d{1,15}(\.\d+)?$/.test(value) ? new NumberText(value) : value)
  const texts: Fields = Object.fromEntries(pairs)
  const numbers: Fields = Object.fromEntries(
    pairs.map(([name, value]) => [name, name === 'total' ? number(value) : value]),
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

// What programs and shells add around a text, and how they encode all of it.
export function decorated(text: string): WrongText[] {
  const around = (mistake: string, wrong: string, changed: string) => ({ mistake, wrong, text: changed })
  return [
    around('line_break', 'the text ends with a line break (echo adds one; use printf %s)', `${text}\n`),
    around('line_break', 'the text ends with a line break', `${text}\r\n`),
    around('outer_space', 'the text ends with a space', `${text} `),
    around('outer_space', 'the text begins with a space', ` ${text}`),
    around('outer_quotes', 'the text is in quotes', `"${text}"`),
    around('outer_quotes', 'the text is in quotes', `'${text}'`),
    around('extra_sign', 'the text ends with &', `${text}&`),
    around('extra_sign', 'the text begins with ?', `?${text}`),
    around('extra_sign', 'the text begins with &', `&${text}`),
    around('url_encoded', 'the whole text is URL-encoded', encodeURIComponent(text.toWellFormed())),
    around('html_encoded', '& is written as &amp;', text.replaceAll('&', '&amp;')),
    around('letter_case', 'the text is in lower case', text.toLowerCase()),
    around('letter_case', 'the text is in upper case', text.toUpperCase()),
  ]
}
