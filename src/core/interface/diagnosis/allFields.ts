import { type Fields, NumberText } from '../json.ts'
import {
  formEncoded,
  joinPairs,
  jsonStyles,
  jsonText,
  type Pair,
  textOf,
  type WrongText,
} from './spellings.ts'

const maxAllLength = 6000 // longer requests are not tried as a whole

const truths: readonly [string, string][] = [
  ['true', 'false'],
  ['True', 'False'], // Python
  ['1', ''], // PHP
]

// Other interfaces sign every field of a request.
export function allFields(sent: Fields): WrongText[] {
  const all = Object.entries(sent).filter(
    ([name, value]) => name !== 'secure_hash' && value !== undefined && value !== null,
  )
  if (JSON.stringify(all).length > maxAllLength) return []
  const orders = [all.toSorted(([a], [b]) => (a < b ? -1 : 1)), all]
  const texts = orders.flatMap(order => [
    ...truths.flatMap(truth => [joinPairs(pairsOf(order, truth)), joinPairs(encode(pairsOf(order, truth)))]),
    ...jsonStyles.map(style => jsonText(Object.fromEntries(order), style)),
  ])
  const wrong = 'all fields were hashed; the string has only those above'
  return texts.map(text => ({ mistake: 'all_fields', wrong, text }))
}

const isPlain = (value: unknown) => typeof value === 'string' || value instanceof NumberText

const pairsOf = (fields: readonly [string, unknown][], [yes, no]: readonly [string, string]) =>
  fields.flatMap(([name, value]): Pair[] => {
    if (typeof value === 'boolean') return [[name, value ? yes : no]]
    return isPlain(value) ? [[name, textOf(value)]] : []
  })

const encode = (pairs: Pair[]) => pairs.map(([name, value]): Pair => [name, formEncoded(value)])
