import type { Json, ObjectSchema } from './requestSchema.ts'
import { json, orAnywhere, type Responses } from './responses.ts'
import type { Rule } from './rules.ts'

export type Paths = Record<string, { get?: Json; post?: Json }>

type Described = Json & { responses: Responses; rules?: readonly Rule[] }

export const operation = (tag: string, operationId: string, summary: string, described: Described): Json => {
  const { responses, rules, ...rest } = described
  return {
    tags: [tag],
    operationId,
    summary,
    ...rest,
    responses: orAnywhere(responses),
    ...(rules && { 'x-further-rules': rules }),
  }
}

const formTypes = ['application/x-www-form-urlencoded', 'multipart/form-data']

// A body may come in three encodings; the fields are the same.
export const bodyOf = (schema: Json, form: Json, examples: Record<string, Json>): Json => ({
  required: true,
  content: {
    ...json(schema, examples),
    ...Object.fromEntries(
      formTypes.map(type => [type, { schema: form, example: asTexts(Object.values(examples)[0] ?? {}) }]),
    ),
  },
})

const asTexts = (fields: Json) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]))

// The fields of a form, one by one in the query.
export const queryOf = (form: ObjectSchema) =>
  Object.entries(form.properties).map(([name, field]) => {
    const { description, deprecated = false, ...type } = field
    const required = form.required.includes(name)
    return { name, in: 'query', required, deprecated, description, schema: type }
  })
