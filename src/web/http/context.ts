import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import type { ApiAnswer } from './apiRequest.ts'
import type { ErrorContext } from './errors.ts'

// The framework's context as the handlers of pages see it.
export type Env = {
  Bindings: HttpBindings
  Variables: { requestId: string; baseUrl: string; plain?: Response; frameOrigins?: readonly string[] }
}
export type Ctx = Context<Env>

export const errorContext = (c: Ctx): ErrorContext => ({
  requestId: c.get('requestId'),
  baseUrl: c.get('baseUrl'),
})

export const respond = (c: Ctx, { http, type, body, headers }: ApiAnswer) =>
  c.body(body, http as 200, { ...headers, ...(type && { 'content-type': type }) })

type Headers = Readonly<Record<string, string>>

// A response with exactly these headers. Hono's c.body() copies them twice, name by name, for every page.
export function plainResponse(
  c: Ctx,
  http: number,
  body: string | Uint8Array<ArrayBuffer> | null,
  ...headerSets: readonly Headers[]
): Response {
  const headers: Record<string, string> = { 'x-request-id': c.get('requestId') }
  for (const set of headerSets) Object.assign(headers, set) // several times as fast as spreading
  const answer = new Response(body, { status: http, headers })
  c.set('plain', answer)
  return answer
}
