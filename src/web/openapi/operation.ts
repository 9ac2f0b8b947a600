import { json } from './responses.ts'
import type { Json, ObjectSchema } from './schemas.ts'

export type Paths = Record<string, { get?: Json; post?: Json }>

export const operation = (tag: string, operationId: string, summary: string, rest: Json): Json => ({
  tags: [tag],
  operationId,
  summary,
  ...rest,
})

const formTypes = ['application/x-www-form-urlencoded', 'multipart/form-data']

// A body may come in three encodings; the fields are the same.
export const bodyOf = (schema: Json, examples: Record<string, Json>): Json => ({
  required: true,
  content: {
    ...json(schema, examples),
    ...Object.fromEntries(formTypes.map(type => [type, { schema, example: Object.values(examples)[0] }])),
  },
})

// The fields of an object schema, one by one in the query.
export const queryOf = (schema: ObjectSchema) =>
  Object.entries(schema.properties).map(([name, field]) => {
    const { description, deprecated = false, ...type } = field
    const required = schema.required.includes(name)
    return { name, in: 'query', required, deprecated, description, schema: type }
  })
