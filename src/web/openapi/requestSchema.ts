import * as patterns from '../../core/interface/patterns.ts'
import { aliases, maxExtraLength, maxExtras } from '../../core/interface/request.ts'

const nameChars = 'A-Za-z0-9_.-'
const extraName = `^extra_[${nameChars}]{1,64}$`
const wrongExtraName = `^extra_($|[${nameChars}]*[^${nameChars}]|[${nameChars}]{65})`

const absent = { enum: ['', null] } // counts as not sent

const extraField = {
  type: ['string', 'number', 'boolean', 'null'],
  maxLength: maxExtraLength,
  pattern: patterns.plainText,
  description: `Your own fields, at most ${maxExtras}. The extra object returns them without the prefix.`,
}

// Adds what the parser accepts besides its schema: empty values of optional fields, aliases, and extra_ fields.
export function withOtherNames(schema: ObjectSchema): ObjectSchema {
  const properties = { ...schema.properties }
  for (const [name, field] of Object.entries(properties))
    if (!schema.required.includes(name)) properties[name] = orAbsent(field)
  for (const [alias, name] of Object.entries(aliases))
    properties[alias] = {
      ...properties[name],
      deprecated: true,
      description: `An alias of ${name}, which wins if both are sent.`,
    }
  return {
    ...schema,
    properties,
    patternProperties: { [extraName]: extraField, [wrongExtraName]: absent },
    additionalProperties: true, // without it, generated clients give line_items the type of the extra_ fields
  }
}

// Empty and null count as absent.
function orAbsent({ type, pattern, enum: values, anyOf, ...rest }: Json): Json {
  if (Array.isArray(values)) return { ...rest, enum: [...values, '', null] }
  if (Array.isArray(anyOf)) return { ...rest, anyOf: [...anyOf, { type: 'null' }] }
  if (type === 'array') return { anyOf: [{ ...rest, type }, absent], description: rest.description }
  const matchesEmpty = pattern === patterns.plainText
  return { ...rest, type: [type, 'null'], pattern: matchesEmpty ? pattern : `^$|${String(pattern)}` }
}

// All fields of a form or a query are text, so line_items, which is a list, is left out.
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

const numberKeywords = ['exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']

function asText({ enum: values, anyOf, ...rest }: Json): Json {
  const keywords = Object.entries(rest).filter(([name]) => !numberKeywords.includes(name))
  const textOption = Array.isArray(anyOf) ? anyOf.find(({ type }) => type === 'string') : {}
  const texts = Array.isArray(values) && { enum: values.filter(value => typeof value === 'string') }
  return { ...Object.fromEntries(keywords), ...textOption, ...texts, type: 'string' }
}

const required = (name: string, schema: Json = { type: 'string', minLength: 1 }) => ({
  required: [name],
  properties: { [name]: schema },
})
const hasPage = required('generate_checkout_url', { enum: [true, 'true', '1', 1] })
const hasIssuer = required('extra_wallet_issuer_hint')
const isDirect = {
  allOf: [required('pymt_instrument'), hasIssuer, { properties: { generate_checkout_url: absent } }],
}

// Dependencies between fields: a payment has a page or is a direct one. A web form gets a page without
// generate_checkout_url.
export const forServers = (request: Json) => ({ allOf: [request, { anyOf: [hasPage, isDirect] }] })
export const forBrowsers = (request: Json) => ({
  allOf: [request, { anyOf: [{ properties: { pymt_instrument: absent } }, hasPage, hasIssuer] }],
})

export type Json = Record<string, unknown>

export type ObjectSchema = Json & { properties: Record<string, Json>; required: string[] }
