import { Refusal } from '../core/refusal.ts'
import type { Ctx } from './context.ts'

// The one place that turns a refusal into HTTP.
export function errorBody(c: Ctx, refusal: Refusal) {
  const { code, message, field, hint, http } = refusal
  return {
    success: false,
    status: 'error',
    status_code: http,
    message,
    error: { code, message, ...(field && { field }), ...(hint && { hint }) },
    request_id: c.get('requestId'),
  }
}

export function httpOf(c: Ctx, refusal: Refusal) {
  c.set('code', refusal.code)
  if (refusal.retryAfterSeconds) c.header('retry-after', String(refusal.retryAfterSeconds))
  if (refusal.http === 413) c.header('connection', 'close') // the rest of the body is not read
  return (refusal.as200 ? 200 : refusal.http) as 400
}

export const answerRefusal = (c: Ctx, refusal: Refusal) => c.json(errorBody(c, refusal), httpOf(c, refusal))

// Anything else thrown is our bug: logged whole by the caller, answered without a word of its inside.
export function answerBug(c: Ctx) {
  const message = 'Something broke on our side. Repeat the request; if it goes on, tell us the request_id.'
  c.set('code', 'internal')
  return c.json(
    {
      success: false,
      status: 'error',
      status_code: 500,
      message,
      error: { code: 'internal', message },
      request_id: c.get('requestId'),
    },
    500,
  )
}

export function answerNotFound(c: Ctx) {
  const message = 'There is nothing at this address. The interface is described at /docs.'
  return c.json(
    {
      success: false,
      status: 'error',
      status_code: 404,
      message,
      error: { code: 'not_found', message },
      request_id: c.get('requestId'),
    },
    404,
  )
}

export const isRefusal = (error: unknown): error is Refusal => error instanceof Refusal
