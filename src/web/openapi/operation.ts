import { type Code, Refusal } from '../../core/interface/refusal.ts'
import { bugAnswer } from '../http/errors.ts'
import { exampleError, exampleContext, exampleRequestId } from './examples.ts'
import type { Json, ObjectSchema } from './requestSchema.ts'
import type { Rule } from './rules.ts'
import { codeMeanings, refTo } from './schemas.ts'

export type Paths = Record<string, { get?: Json; post?: Json }>
export type Responses = Record<string, Json>

type OperationParts = Json & { responses: Responses; rules?: readonly Rule[] }

export const operation = (
  tag: string,
  operationId: string,
  summary: string,
  { responses, rules, ...rest }: OperationParts,
): Json => ({
  tags: [tag],
  operationId,
  summary,
  ...rest,
  responses: withCommonErrors(responses),
  'x-further-rules': rules,
})

// A request body in three encodings, with the same fields in each.
export function bodyOf(schema: Json, form: Json, examples: Record<string, Json>): Json {
  const formContent = { schema: form, example: asTexts(Object.values(examples)[0] ?? {}) }
  const content = {
    ...jsonContent(schema, examples),
    'application/x-www-form-urlencoded': formContent,
    'multipart/form-data': formContent,
  }
  return { required: true, content }
}

const asTexts = (fields: Json) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]))

// The fields of a form as query parameters.
export const queryOf = (form: ObjectSchema) =>
  Object.entries(form.properties).map(([name, field]) => {
    const { description, deprecated = false, ...schema } = field
    return { name, in: 'query', required: form.required.includes(name), deprecated, description, schema }
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

export const errorContent = jsonContent(refTo('ErrorBody'), {})

type ErrorContent = (refusals: readonly Refusal[]) => Json

export const jsonErrors =
  (schema: Json, bodyOfRefusal: (refusal: Refusal) => unknown): ErrorContent =>
  refusals =>
    jsonContent(schema, Object.fromEntries(refusals.map(refusal => [refusal.code, bodyOfRefusal(refusal)])))

export const errorBodies = jsonErrors(refTo('ErrorBody'), exampleError)

// One response for each HTTP status, with an example for each code, and the internal error.
export function errorResponses(refusals: readonly Refusal[], contentOf = errorBodies): Responses {
  const responses: Responses = { 500: internalError }
  for (const http of new Set(refusals.map(refusal => refusal.http))) {
    const group = refusals.filter(refusal => refusal.http === http)
    const description = group.map(({ code }) => `${code}: ${codeMeanings[code]}.`).join(' ')
    const isTemporary = group.some(refusal => refusal.retryAfterSeconds)
    responses[http] = response(description, contentOf(group), isTemporary ? retryAfter : {})
  }
  return responses
}

const internalError = response(
  'An internal error.',
  jsonContent(refTo('ErrorBody'), { internal: JSON.parse(bugAnswer(exampleContext).body) }),
)

const commonErrors: [http: number, code: Code, why: string][] = [
  [400, 'GW-012', 'The request is not valid HTTP, or its address is not in its plain form.'],
  [408, 'GW-012', 'The request arrived too slowly.'],
  [429, 'GW-060', 'Too many requests are unanswered on one connection.'],
  [431, 'GW-013', 'The address or the headers are too large.'],
]

// Errors that any address can return before its route runs. They are always JSON.
function withCommonErrors(responses: Responses): Responses {
  const merged = { ...responses }
  for (const [http, code, why] of commonErrors) {
    const common = response(why, errorBodies([new Refusal(http, code, why)]), http === 429 ? retryAfter : {})
    const own = merged[http]
    merged[http] = own
      ? { ...own, content: { ...(common.content as Json), ...(own.content as Json) } }
      : common
  }
  return merged
}
