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
export const answerBug = (c: Ctx) =>
  answerPlainly(
    c,
    500,
    'internal',
    'Something broke on our side. Repeat the request; if it goes on, tell us the request_id.',
  )

export const answerNotFound = (c: Ctx) =>
  answerPlainly(c, 404, 'not_found', 'There is nothing at this address. The interface is described at /docs.')

export const answerWrongMethod = (allowed: string) => (c: Ctx) => {
  c.header('allow', allowed)
  return answerPlainly(c, 405, 'method_not_allowed', `This address takes ${allowed} only.`)
}

// What is no matter of the interface has a word for its code, not a number of the public list.
function answerPlainly(c: Ctx, http: 404 | 405 | 500, code: string, message: string) {
  if (http !== 404) c.set('code', code)
  const body = { success: false, status: 'error', status_code: http, message, error: { code, message } }
  return c.json({ ...body, request_id: c.get('requestId') }, http)
}

export const isRefusal = (error: unknown): error is Refusal => error instanceof Refusal
