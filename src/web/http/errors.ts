import { Refusal, tooManyAtOnce } from '../../core/interface/refusal.ts'
import { type ApiAnswer, jsonType } from './apiRequest.ts'

const errorBody = (http: number, error: { code: string; message: string }, request_id: string) => ({
  success: false,
  status: 'error',
  status_code: http,
  message: error.message,
  error,
  request_id,
})

// The only place that turns a refusal into HTTP.
export function refusalBody(refusal: Refusal, request_id: string) {
  const { code, message, field, hint, differences, warnings, http } = refusal
  const details = { ...(field && { field }), ...(hint && { hint }), ...(differences && { differences }) }
  return {
    ...errorBody(http, { code, message, ...details }, request_id),
    ...(warnings && { warnings }),
  }
}

export function refusalAnswer(refusal: Refusal, requestId: string): ApiAnswer {
  return refusedAs(refusal, jsonType, JSON.stringify(refusalBody(refusal, requestId)))
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
export function crowdedAnswer(requestId: string): ApiAnswer {
  const answer = refusalAnswer(tooManyAtOnce(), requestId)
  return { ...answer, headers: { ...answer.headers, connection: 'close' } }
}

// Any other error is a bug. The caller logs it in full, and the answer reveals nothing of it.
export const bugAnswer = (requestId: string) =>
  plainAnswer(
    500,
    'internal',
    'Internal error. Repeat the request; if the error persists, report the request_id.',
    requestId,
  )

export const notFoundAnswer = (requestId: string) =>
  plainAnswer(
    404,
    'not_found',
    'There is nothing at this address. The interface is described at /docs.',
    requestId,
  )

export const wrongMethodAnswer = (allow: string, requestId: string) => ({
  ...plainAnswer(405, 'method_not_allowed', `This address takes ${allow} only.`, requestId),
  headers: { allow },
})

// Errors outside the API have a name as their code, not a number of the public list.
export function plainAnswer(http: number, code: string, message: string, request_id: string): ApiAnswer {
  return { http, type: jsonType, body: JSON.stringify(errorBody(http, { code, message }, request_id)), code }
}

export const isRefusal = (error: unknown): error is Refusal => error instanceof Refusal
