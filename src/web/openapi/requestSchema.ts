import * as patterns from '../../core/interface/patterns.ts'
import { aliases, maxExtraLength, maxExtras } from '../../core/interface/request.ts'

const letter = 'A-Za-z0-9_.-'
const extraName = `^extra_[${letter}]{1,64}$`
const wrongExtraName = `^extra_($|[${letter}]*[^${letter}]|[${letter}]{65})`

const nothing = { enum: ['', null] } // as good as not sent

const extraField = {
  type: ['string', 'number', 'boolean', 'null'],
  maxLength: maxExtraLength,
  pattern: patterns.plainText,
  description: `Your own fields, at most ${maxExtras}. They come back in extra without the prefix.`,
}

// What the parser reads beside its schema: nothing in place of what need not be sent, older names, and fields of the
// merchant's own.
export function withOtherNames(schema: ObjectSchema): ObjectSchema {
  const fields = Object.entries(schema.properties).map(([name, field]) => [
    name,
    schema.required.includes(name) ? field : orNothing(field),
  ])
  const properties: Record<string, Json> = Object.fromEntries(fields)
  for (const [alias, name] of Object.entries(aliases))
    properties[alias] = {
      ...properties[name],
      deprecated: true,
      description: `An older name of ${name}, which wins when both are sent.`,
    }
  return {
    ...schema,
    properties,
    patternProperties: { [extraName]: extraField, [wrongExtraName]: nothing },
  }
}

// Empty and null mean that it was not sent.
function orNothing({ type, pattern, enum: words, anyOf, ...rest }: Json): Json {
  if (Array.isArray(words)) return { ...rest, enum: [...words, '', null] }
  if (Array.isArray(anyOf)) return { ...rest, anyOf: [...anyOf, { type: 'null' }] }
  if (type === 'array') return { anyOf: [{ ...rest, type }, nothing], description: rest.description }
  const takesEmpty = pattern === patterns.plainText
  return { ...rest, type: [type, 'null'], pattern: takesEmpty ? pattern : `^$|${String(pattern)}` }
}

// A form, or a query, has texts alone: what is a list is none of its fields.
export const asForm = (schema: ObjectSchema): ObjectSchema => ({
  ...schema,
  properties: Object.fromEntries(
    Object.entries(schema.properties)
      .filter(([name]) => name !== 'line_items')
      .map(([name, field]) => [name, asText(field)]),
  ),
  patternProperties: { [extraName]: { ...extraField, type: 'string' }, [wrongExtraName]: { enum: [''] } },
  additionalProperties: { type: 'string' },
})

const ofNumbers = ['exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']

function asText(field: Json): Json {
  const { enum: words, anyOf, ...rest } = field
  const kept = Object.fromEntries(Object.entries(rest).filter(([name]) => !ofNumbers.includes(name)))
  const text = Array.isArray(anyOf) ? anyOf.find(({ type }) => type === 'string') : {}
  const texts = Array.isArray(words) && { enum: words.filter(word => typeof word === 'string') }
  return { ...kept, ...text, ...texts, type: 'string' }
}

const given = (name: string, schema: Json = { type: 'string', minLength: 1 }) => ({
  required: [name],
  properties: { [name]: schema },
})
const hasPage = given('generate_checkout_url', { enum: [true, 'true', '1', 1] })
const hasIssuer = given('extra_wallet_issuer_hint')
const isDirect = {
  allOf: [given('pymt_instrument'), hasIssuer, { properties: { generate_checkout_url: nothing } }],
}

// Which fields go together: a payment has a page, or is a direct one. A form door makes a page unasked.
export const forServers = (request: Json) => ({ allOf: [request, { anyOf: [hasPage, isDirect] }] })
export const forBrowsers = (request: Json) => ({
  allOf: [request, { anyOf: [{ properties: { pymt_instrument: nothing } }, hasPage, hasIssuer] }],
})

export type Json = Record<string, unknown>

export type ObjectSchema = Json & { properties: Record<string, Json>; required: string[] }
