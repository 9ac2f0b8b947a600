import { Refusal, tooManyAtOnce } from '../../core/interface/refusal.ts'
import { type ApiAnswer, jsonType } from './apiRequest.ts'

// What an error answer says about its request. An Exchange of the API is one.
export type ErrorContext = { requestId: string; baseUrl: string }

// The section about a code in docs/errors.md, on this gateway.
export const errorDocUrl = (baseUrl: string, code: string) => `${baseUrl}/docs/errors#${code.toLowerCase()}`

function errorBody(
  http: number,
  error: { code: string; message: string },
  { requestId, baseUrl }: ErrorContext,
) {
  return {
    success: false,
    status: 'error',
    status_code: http,
    message: error.message,
    error: { ...error, doc_url: errorDocUrl(baseUrl, error.code) },
    request_id: requestId,
  }
}

// The only place that turns a refusal into HTTP.
export function refusalBody(refusal: Refusal, request: ErrorContext) {
  const { code, message, field, hint, differences, left, warnings, http } = refusal
  const details = {
    ...(field && { field }),
    ...(hint && { hint }),
    ...(differences && { differences }),
    ...(left !== undefined && { left }),
  }
  return {
    ...errorBody(http, { code, message, ...details }, request),
    ...(warnings && { warnings }),
  }
}

export function refusalAnswer(refusal: Refusal, request: ErrorContext): ApiAnswer {
  return refusedAs(refusal, jsonType, JSON.stringify(refusalBody(refusal, request)))
}

// A refusal with a body of any content type.
export function refusedAs(refusal: Refusal, type: string, body: string): ApiAnswer {
  const headers: Record<string, string> = {}
  if (refusal.retryAfterSeconds) headers['retry-after'] = String(refusal.retryAfterSeconds)
  if (refusal.isBodyUnread) headers.connection = 'close'
  const cause = refusal.cause === undefined ? undefined : String(refusal.cause)
  return { http: refusal.as200 ? 200 : refusal.http, type, body, headers, code: refusal.code, cause, refusal }
}

// For a connection with too many unanswered requests. The requests after this one are not read.
export function crowdedAnswer(request: ErrorContext): ApiAnswer {
  const answer = refusalAnswer(tooManyAtOnce(), request)
  return { ...answer, headers: { ...answer.headers, connection: 'close' } }
}

// Any other error is a bug. The caller logs it in full, and the answer reveals nothing of it.
export const bugAnswer = (request: ErrorContext) =>
  plainAnswer(
    500,
    'internal',
    'Internal error. Repeat the request; if the error persists, report the request_id.',
    request,
  )

export const notFoundAnswer = (request: ErrorContext) =>
  plainAnswer(
    404,
    'not_found',
    'There is nothing at this address. The interface is described at /docs.',
    request,
  )

export const wrongMethodAnswer = (allow: string, request: ErrorContext) => ({
  ...plainAnswer(405, 'method_not_allowed', `This address takes ${allow} only.`, request),
  headers: { allow },
})

// Errors outside the API have a name as their code, not a number of the public list.
export function plainAnswer(http: number, code: string, message: string, request: ErrorContext): ApiAnswer {
  return { http, type: jsonType, body: JSON.stringify(errorBody(http, { code, message }, request)), code }
}

export const isRefusal = (error: unknown): error is Refusal => error instanceof Refusal
