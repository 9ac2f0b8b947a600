import fc, { type Arbitrary } from 'fast-check'
import type { Described, Operation, Parameter } from './document.ts'
import { valuesOf } from './values.ts'

export type Fields = Record<string, unknown>

// A request as its operation's schema allows it, before anybody has signed it or spoiled it.
export type Question = {
  fields: Fields // of the body, or else of the query
  path: Fields
  header: Fields
  type?: string // of the body
}

export function questionsOf(described: Described, operation: Operation): Arbitrary<Question> {
  const { parameters, body } = operation
  const inPlace = (place: Parameter['in']) => {
    const those = parameters.filter(one => one.in === place)
    const values = those.map(({ name, schema }) => [name, valuesOf(described, schema)])
    const requiredKeys = those.filter(one => one.required).map(one => one.name)
    return fc.record(Object.fromEntries(values), { requiredKeys }) as Arbitrary<Fields>
  }
  const bodies = Object.entries(body ?? {}).map(([type, { schema }]) =>
    valuesOf(described, schema).map(fields => ({ type, fields: addedUp(fields as Fields) })),
  )
  const asked = bodies.length > 0 ? fc.oneof(...bodies) : inPlace('query').map(fields => ({ fields }))
  return fc
    .tuple(asked, inPlace('path'), inPlace('header'))
    .map(([what, path, header]) => ({ ...what, path, header }))
}

// Lists that do not add up are refused, so most of them do.
function addedUp(fields: Fields): Fields {
  const items = Array.isArray(fields.line_items) ? (fields.line_items as { total: unknown }[]) : []
  const sum = items.reduce((all, { total }) => all + Math.round(Number(total) * 100), 0)
  const isPlain = sum > 0 && Number.isSafeInteger(sum) && sum < 1e14
  return isPlain ? { ...fields, total: (sum / 100).toFixed(2) } : fields
}

// What may happen to a request on its way.
export type Spoiling =
  | { kind: 'left out'; which: number }
  | { kind: 'replaced'; which: number; by: unknown }
  | { kind: 'added'; name: string; value: unknown }
  | { kind: 'sent twice'; which: number }
  | { kind: 'sent as'; type: string }
  | { kind: 'compressed' }
  | { kind: 'broken off'; at: number }
  | { kind: 'swollen'; to: number }

const odd = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\0',
    '\n',
    '0',
    '-1',
    '1e3',
    'null',
    '../x',
    'http://',
    '\ud800',
    '🙂'.repeat(3000),
  ),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.jsonValue({ maxDepth: 20 }),
)
const types = [
  '',
  'text/plain',
  'application/xml',
  'application/json; charset=latin1',
  'multipart/form-data',
  ';;',
]

export const spoilings: Arbitrary<Spoiling> = fc.oneof(
  fc.record({ kind: fc.constant('left out' as const), which: fc.nat() }),
  fc.record({ kind: fc.constant('replaced' as const), which: fc.nat(), by: odd }),
  fc.record({ kind: fc.constant('added' as const), name: fc.string({ minLength: 1 }), value: odd }),
  fc.record({ kind: fc.constant('sent twice' as const), which: fc.nat() }),
  fc.record({ kind: fc.constant('sent as' as const), type: fc.constantFrom(...types) }),
  fc.record({ kind: fc.constant('compressed' as const) }),
  fc.record({ kind: fc.constant('broken off' as const), at: fc.nat(200) }),
  fc.record({ kind: fc.constant('swollen' as const), to: fc.constantFrom(17_000, 66_000, 70_000) }),
)
