// A JSON parser for a payment API. It keeps the digits of a number as sent, because the merchant hashed that text (10.50
// stays 10.50). It refuses duplicate keys, because two parsers might read two totals, and deep nesting.
const maxDepth = 16

// A key costs about 2 microseconds until it is refused or ignored, so 64 KiB of keys would block the event loop for
// longer than ten requests do. Short texts cannot have many keys and are not counted.
const maxValues = 4000
const countedLength = 8192

// A number as it was written.
export class NumberText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type Fields = Record<string, unknown>

// An object without inherited properties, so that no name is special. V8 stores the result of Object.create(null) as a
// slow dictionary, so a constructor with an empty prototype makes it.
const Bare = function () {} as unknown as new () => Fields
Bare.prototype = Object.create(null)
export const noFields = (): Fields => new Bare()

// Returns the object with all its numbers as NumberText, or the sentence that says what is wrong.
export function parseJsonObject(text: string): Fields | string {
  const fault = text.length > countedLength ? sizeFault(text) : undefined
  if (fault) return fault
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return 'The body is not valid JSON.'
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return 'The body must be a JSON object.'
  const fields: Fields = Object.assign(noFields(), value)
  return walk(text, fields) ?? fields
}

const tooDeep = `The body is nested deeper than ${maxDepth} levels.`
const tooMany = `The body has more than ${maxValues.toLocaleString('en')} values.`

// Counts levels and values outside of strings, before the text is parsed. The text may not be valid JSON.
function sizeFault(text: string): string | undefined {
  let depth = 0
  let values = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      at = closingQuote(text, at)
      if (at === -1) return undefined
    } else if (code === closeBrace || code === closeBracket) depth--
    else if (code === comma || code === openBrace || code === openBracket) {
      if (code !== comma && ++depth > maxDepth) return tooDeep
      if (++values > maxValues) return tooMany
    }
  }
  return undefined
}

const quote = 0x22
const comma = 0x2c
const minus = 0x2d
const zero = 0x30
const nine = 0x39
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

type Open = { values: Fields | unknown[]; keys: Set<string> | undefined; at: number } // `keys` of an object, `at` of an array

// Replaces the numbers and finds duplicate keys. JSON.parse has accepted the text, so the grammar is not checked.
function walk(text: string, fields: Fields): string | undefined {
  const open: Open[] = []
  let inner: Open | undefined // the innermost
  let key: string | undefined // the key of the next value
  let at = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      const end = closingQuote(text, at)
      if (inner?.keys && key === undefined) {
        key = unescaped(text.slice(at + 1, end))
        if (inner.keys.has(key)) return `The body has the key "${key.slice(0, 40)}" twice.`
        inner.keys.add(key)
      }
      at = end
    } else if (code === openBrace || code === openBracket) {
      if (open.length === maxDepth) return tooDeep
      inner = {
        values: inner ? holderAt(inner, key) : fields,
        keys: code === openBrace ? new Set() : undefined,
        at: 0,
      }
      open.push(inner)
      key = undefined
    } else if (code === closeBrace || code === closeBracket) {
      open.pop()
      inner = open[open.length - 1]
    } else if (code === comma) {
      key = undefined
      if (inner) inner.at++
    } else if (code === minus || (code >= zero && code <= nine)) {
      const end = numberEnd(text, at)
      if (inner) setValue(inner, key, new NumberText(text.slice(at, end)))
      at = end - 1
    }
    at++
  }
  return undefined
}

// JSON.parse has kept only the last value of a duplicate key. The walk refuses the body when it reaches the second one.
function holderAt({ values, at }: Open, key: string | undefined): Open['values'] {
  const value = Array.isArray(values) ? values[at] : values[key as string]
  return typeof value === 'object' && value !== null ? (value as Fields) : []
}

// JSON.parse made every key an own property, __proto__ too, so this assignment has no side effect.
function setValue({ values, at }: Open, key: string | undefined, value: NumberText) {
  if (Array.isArray(values)) values[at] = value
  else values[key as string] = value
}

const unescaped = (key: string) => (key.includes('\\') ? (JSON.parse(`"${key}"`) as string) : key)

// The next quote after an even number of backslashes, or -1.
function closingQuote(text: string, open: number) {
  let at = text.indexOf('"', open + 1)
  while (at !== -1) {
    let first = at
    while (text.charCodeAt(first - 1) === backslash) first--
    if ((at - first) % 2 === 0) return at
    at = text.indexOf('"', at + 1)
  }
  return -1
}

function numberEnd(text: string, start: number) {
  let at = start + 1
  while (at < text.length && '0123456789.eE+-'.includes(text.charAt(at))) at++
  return at
}
