import type { Refusal } from '../../core/refusal.ts'
import { meaningOf } from './codes.ts'
import { type Json, refTo } from './schemas.ts'

export type Responses = Record<string, Json>

const requestId = { 'x-request-id': { $ref: '#/components/headers/RequestId' } }
export const retryAfter = { 'retry-after': { $ref: '#/components/headers/RetryAfter' } }

export const headers = {
  RequestId: {
    description: 'The id of this request, on every answer. Our log knows it.',
    schema: { type: 'string' },
    example: 'req_7m2k9c4w8x1z5b3n',
  },
  RetryAfter: {
    description: 'Repeat the same request after this many seconds.',
    schema: { type: 'integer', minimum: 1 },
    example: 1,
  },
}

export const answerOf = (description: string, content: Json, more: Json = {}): Json => ({
  description,
  headers: { ...requestId, ...more },
  content,
})

export const json = (schema: Json, examples: Record<string, unknown>): Json => ({
  'application/json': { schema, examples: named(examples) },
})

export const text = (example: string): Json => ({ 'text/plain': { schema: { type: 'string' }, example } })

export const html = { 'text/html': { schema: { type: 'string' } } }

const named = (examples: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]))

type ContentOf = (refusals: readonly Refusal[]) => Json

// One response for each HTTP status, with an example for each code.
export function failures(refusals: readonly Refusal[], contentOf: ContentOf): Responses {
  const responses: Responses = {}
  for (const http of new Set(refusals.map(refusal => refusal.http))) {
    const group = refusals.filter(refusal => refusal.http === http)
    const description = group.map(({ code }) => `${code}: ${meaningOf(code)}.`).join(' ')
    const waits = group.some(refusal => refusal.retryAfterSeconds)
    responses[http] = {
      description,
      headers: waits ? { ...requestId, ...retryAfter } : requestId,
      content: contentOf(group),
    }
  }
  return responses
}

export const jsonOf =
  (schema: Json, bodyOf: (refusal: Refusal) => unknown): ContentOf =>
  refusals =>
    json(schema, Object.fromEntries(refusals.map(refusal => [refusal.code, bodyOf(refusal)])))

const brokenMessage =
  'Something broke on our side. Repeat the request; if it goes on, tell us the request_id.'

export const broken: Responses = {
  500: answerOf(
    'Something broke on our side.',
    json(refTo('ErrorBody'), {
      internal: {
        success: false,
        status: 'error',
        status_code: 500,
        message: brokenMessage,
        error: { code: 'internal', message: brokenMessage },
        request_id: headers.RequestId.example,
      },
    }),
  ),
}
