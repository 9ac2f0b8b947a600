// JSON as a money API needs it: the digits of a number as they were sent (10.50 stays 10.50, because the
// merchant hashed that text), no key twice (two readers must never see two totals), no deep nesting.
const maxDepth = 16

// A number as it stood in the text.
export class NumberText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type Fields = Record<string, unknown>

// Gives back the top-level object with its numbers as NumberText, or the sentence that says what is wrong.
export function parseJsonObject(text: string): Fields | string {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return 'The body is not valid JSON.'
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return 'The body must be a JSON object.'
  const fields = Object.assign(Object.create(null), value) as Fields
  return walk(text, fields) ?? fields
}

// JSON.parse has accepted the text, so this walk only has to find its way, not to check the grammar.
function walk(text: string, fields: Fields): string | undefined {
  const open: (Set<string> | undefined)[] = [] // the keys of each open object; undefined for an array
  let key: string | undefined // the key whose value comes next
  let at = 0
  while (at < text.length) {
    const char = text[at]
    if (char === '"') {
      const end = closingQuote(text, at)
      const keys = open.at(-1)
      if (keys && key === undefined) {
        key = JSON.parse(text.slice(at, end + 1)) as string
        if (keys.has(key)) return `The body has the key "${key.slice(0, 40)}" twice.`
        keys.add(key)
      }
      at = end + 1
      continue
    }
    if (char === '{' || char === '[') {
      if (open.length === maxDepth) return `The body is nested deeper than ${maxDepth} levels.`
      open.push(char === '{' ? new Set() : undefined)
      key = undefined
    } else if (char === '}' || char === ']') {
      open.pop()
    } else if (char === ',') {
      key = undefined
    } else if (char !== undefined && '-0123456789'.includes(char)) {
      const end = numberEnd(text, at)
      if (open.length === 1 && key !== undefined) fields[key] = new NumberText(text.slice(at, end))
      at = end
      continue
    }
    at++
  }
  return undefined
}

function closingQuote(text: string, open: number) {
  let at = open + 1
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}

function numberEnd(text: string, start: number) {
  let at = start + 1
  while (at < text.length && '0123456789.eE+-'.includes(text[at] as string)) at++
  return at
}
