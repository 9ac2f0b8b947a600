import { type Code, Refusal } from '../../core/interface/refusal.ts'
import { bugMessage } from '../http/errors.ts'
import { exampleError, exampleRequestId } from './examples.ts'
import type { Json, ObjectSchema } from './requestSchema.ts'
import type { Rule } from './rules.ts'
import { meaningOf, refTo } from './schemas.ts'

// The parts that the operations of the document are made of.

export type Paths = Record<string, { get?: Json; post?: Json }>
export type Responses = Record<string, Json>

type OperationParts = Json & { responses: Responses; rules?: readonly Rule[] }

export const operation = (tag: string, operationId: string, summary: string, parts: OperationParts): Json => {
  const { responses, rules, ...rest } = parts
  return {
    tags: [tag],
    operationId,
    summary,
    ...rest,
    responses: withCommonErrors(responses),
    ...(rules && { 'x-further-rules': rules }),
  }
}

const formTypes = ['application/x-www-form-urlencoded', 'multipart/form-data']

// A request body in three encodings, with the same fields in each.
export const bodyOf = (schema: Json, form: Json, examples: Record<string, Json>): Json => ({
  required: true,
  content: {
    ...jsonContent(schema, examples),
    ...Object.fromEntries(
      formTypes.map(type => [type, { schema: form, example: asTexts(Object.values(examples)[0] ?? {}) }]),
    ),
  },
})

const asTexts = (fields: Json) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]))

// The fields of a form as query parameters.
export const queryOf = (form: ObjectSchema) =>
  Object.entries(form.properties).map(([name, field]) => {
    const { description, deprecated = false, ...type } = field
    const required = form.required.includes(name)
    return { name, in: 'query', required, deprecated, description, schema: type }
  })

const requestId = { 'x-request-id': { $ref: '#/components/headers/RequestId' } }
export const retryAfter = { 'retry-after': { $ref: '#/components/headers/RetryAfter' } }

export const commonHeaders = {
  RequestId: {
    description: 'The id of this request in our log. Every response has it.',
    schema: { type: 'string' },
    example: exampleRequestId,
  },
  RetryAfter: {
    description: 'Repeat the same request after this many seconds.',
    schema: { type: 'integer', minimum: 1 },
    example: 1,
  },
}

export const location = {
  location: { description: 'The page.', schema: { type: 'string', format: 'uri-reference' } },
}

export const response = (description: string, content: Json, headers: Json = {}): Json => ({
  description,
  headers: { ...requestId, ...headers },
  content,
})

export const jsonContent = (schema: Json, examples: Record<string, unknown>): Json => ({
  'application/json': {
    schema,
    examples: Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }])),
  },
})

export const textContent = (example: string, pattern?: string): Json => ({
  'text/plain': { schema: { type: 'string', ...(pattern && { pattern }) }, example },
})

export const htmlContent = { 'text/html': { schema: { type: 'string' } } }

type ContentOf = (refusals: readonly Refusal[]) => Json

// One response for each HTTP status, with an example for each code.
export function errorResponses(refusals: readonly Refusal[], contentOf: ContentOf): Responses {
  const responses: Responses = {}
  for (const http of new Set(refusals.map(refusal => refusal.http))) {
    const group = refusals.filter(refusal => refusal.http === http)
    const description = group.map(({ code }) => `${code}: ${meaningOf(code)}.`).join(' ')
    const waits = group.some(refusal => refusal.retryAfterSeconds)
    responses[http] = response(description, contentOf(group), waits ? retryAfter : {})
  }
  return responses
}

export const jsonErrors =
  (schema: Json, bodyOfRefusal: (refusal: Refusal) => unknown): ContentOf =>
  refusals =>
    jsonContent(schema, Object.fromEntries(refusals.map(refusal => [refusal.code, bodyOfRefusal(refusal)])))

export const internalError: Responses = {
  500: response(
    'An internal error.',
    jsonContent(refTo('ErrorBody'), {
      internal: {
        success: false,
        status: 'error',
        status_code: 500,
        message: bugMessage,
        error: { code: 'internal', message: bugMessage },
        request_id: exampleRequestId,
      },
    }),
  ),
}

const commonErrors: [http: number, code: Code, why: string][] = [
  [400, 'GW-012', 'The request is not valid HTTP, or its address is not in its plain form.'],
  [408, 'GW-012', 'The request arrived too slowly.'],
  [429, 'GW-060', 'Too many requests are unanswered on one connection.'],
  [431, 'GW-013', 'The address or the headers are too large.'],
]

// Errors that any address can return before its route runs. They are always JSON.
function withCommonErrors(responses: Responses): Responses {
  const all = { ...responses }
  for (const [http, code, why] of commonErrors) {
    const example = exampleError(new Refusal(http, code, why))
    const common = response(
      why,
      jsonContent(refTo('ErrorBody'), { [code]: example }),
      http === 429 ? retryAfter : {},
    )
    const own = all[http]
    all[http] = own ? { ...own, content: { ...(common.content as Json), ...(own.content as Json) } } : common
  }
  return all
}
