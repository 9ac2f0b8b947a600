import { type Code, Refusal } from '../../core/interface/refusal.ts'
import { meaningOf } from './codes.ts'
import { errorBody } from './examples.ts'
import type { Json } from './requestSchema.ts'
import { refTo } from './schemas.ts'

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

export const location = {
  location: { description: 'The page.', schema: { type: 'string', format: 'uri-reference' } },
}

export const answerOf = (description: string, content: Json, more: Json = {}): Json => ({
  description,
  headers: { ...requestId, ...more },
  content,
})

export const json = (schema: Json, examples: Record<string, unknown>): Json => ({
  'application/json': { schema, examples: named(examples) },
})

export const text = (example: string, pattern?: string): Json => ({
  'text/plain': { schema: { type: 'string', ...(pattern && { pattern }) }, example },
})

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

const refusedAnywhere: [http: number, code: Code, why: string][] = [
  [400, 'GW-012', 'The request is not HTTP, or its address is spelled in an odd way.'],
  [408, 'GW-012', 'The request came too slowly.'],
  [429, 'GW-060', 'Too many requests wait on one connection.'],
  [431, 'GW-013', 'The address or the header is too large.'],
]

// Some answers can come from any address, before it is looked at, and are always JSON.
export function orAnywhere(responses: Responses): Responses {
  const all = { ...responses }
  for (const [http, code, why] of refusedAnywhere) {
    const example = errorBody(new Refusal(http, code, why))
    const refused = answerOf(
      why,
      json(refTo('ErrorBody'), { [code]: example }),
      http === 429 ? retryAfter : {},
    )
    const known = all[http]
    all[http] = known
      ? { ...known, content: { ...(refused.content as Json), ...(known.content as Json) } }
      : refused
  }
  return all
}
