import fc, { type Arbitrary } from 'fast-check'
import type { Described, Schema } from './document.ts'

// Values that a schema allows, at random: its edges more often than its middle.
const isFew = 4 // fields that nobody described, at most

export function valuesOf(described: Described, schema: Schema): Arbitrary<unknown> {
  const text = JSON.stringify(schema)
  const known = made.get(text)
  if (known) return known
  const ways = alternatives(described, schema).map(one => plainValues(described, one))
  const values = fc.oneof(...ways).filter(value => described.fits(schema, value))
  made.set(text, values)
  return values
}

const made = new Map<string, Arbitrary<unknown>>() // by the text of the schema: some stand at many places

// A schema without `$ref`, `allOf` and `anyOf`, once for each way through them.
function alternatives(described: Described, schema: Schema): Schema[] {
  const { allOf = [], anyOf, ...own } = described.resolved(schema)
  const parts: Schema[][] = allOf.map((part: Schema) => alternatives(described, part))
  if (anyOf) parts.push(anyOf.flatMap((part: Schema) => alternatives(described, part)))
  return parts.reduce<Schema[]>(
    (wholes, choices) => wholes.flatMap(whole => choices.map(choice => both(whole, choice))),
    [own],
  )
}

function both(one: Schema, other: Schema): Schema {
  const properties: Schema = { ...one.properties }
  for (const [name, schema] of Object.entries((other.properties ?? {}) as Record<string, Schema>))
    properties[name] = properties[name] ? { allOf: [properties[name], schema] } : schema
  const required = [...new Set([...(one.required ?? []), ...(other.required ?? [])])]
  const merged: Schema = { ...one, ...other, properties, required }
  if (one.type && other.type)
    merged.type = [one.type].flat().filter((type: string) => [other.type].flat().includes(type))
  if (one.enum && other.enum) merged.enum = one.enum.filter((word: unknown) => other.enum.includes(word))
  if (one.pattern && other.pattern) merged.pattern = one.pattern // the other is left to the filter
  return merged
}

function plainValues(described: Described, schema: Schema): Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const types: string[] = [schema.type ?? (schema.properties ? 'object' : 'string')].flat()
  return fc.oneof(...types.map(type => (makers[type] ?? fc.jsonValue)(schema, described)))
}

type Maker = (schema: Schema, described: Described) => Arbitrary<unknown>

const makers: Record<string, Maker> = {
  null: () => fc.constant(null),
  boolean: () => fc.boolean(),
  string: strings,
  number: numbers,
  integer: ({ minimum = -1000, maximum = 1000 }) => fc.integer({ min: minimum, max: maximum }),
  object: objects,
  array: ({ items = {}, maxItems = 10 }, described) =>
    fc.array(valuesOf(described, items), { maxLength: maxItems }),
}

function strings({ pattern, minLength = 0, maxLength = 300 }: Schema): Arbitrary<string> {
  const texts = [
    fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, 40) }),
    fc.string({ unit: 'binary', minLength, maxLength: Math.min(maxLength, 40) }),
    fc.constantFrom('x'.repeat(maxLength), '𝄞'.repeat(maxLength)), // the latter is two units of a JavaScript string
  ]
  if (pattern === undefined) return fc.oneof(...texts)
  const like = new RegExp(pattern, 'u')
  const matching = fc.stringMatching(like, { maxLength }).filter(text => [...text].length >= minLength)
  const fitting = texts.filter(text => fc.sample(text, { numRuns: 8, seed: 1 }).every(one => like.test(one)))
  return fc.oneof({ weight: 3, arbitrary: matching }, ...fitting)
}

function numbers({ multipleOf, minimum, exclusiveMinimum = -1e12, exclusiveMaximum = 1e12 }: Schema) {
  if (!multipleOf) return fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }))
  const steps = Math.round(1 / multipleOf)
  return fc
    .oneof(fc.integer({ min: 0, max: 1_000_000 }), fc.maxSafeInteger())
    .map(count => Math.abs(count) / steps)
    .filter(value => value > exclusiveMinimum && value < exclusiveMaximum && !(value < minimum))
}

function objects(schema: Schema, described: Described): Arbitrary<unknown> {
  const { properties = {}, required = [], patternProperties = {}, additionalProperties = {} } = schema
  const named = Object.fromEntries(
    Object.entries(properties as Record<string, Schema>).map(([name, one]) => [
      name,
      valuesOf(described, one),
    ]),
  )
  const patterned = Object.entries(patternProperties as Record<string, Schema>).map(([pattern, one]) =>
    fc.dictionary(fc.stringMatching(new RegExp(pattern, 'u')), valuesOf(described, one), { maxKeys: 22 }),
  )
  const unknown = additionalProperties.type ? valuesOf(described, additionalProperties) : fc.jsonValue()
  const parts = [
    fc.record(named, { requiredKeys: required }),
    ...patterned.map(fields => fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, fields)),
    fc.oneof(fc.constant({}), fc.dictionary(fc.string(), unknown, { maxKeys: isFew })),
  ]
  return fc.tuple(...parts).map(all => Object.assign({}, ...all.toReversed()))
}
