import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import type { ApiAnswer } from './apiRequest.ts'

// What a page's handler gets.
export type Env = {
  Bindings: HttpBindings
  Variables: { requestId: string; plain?: Response; frameOrigins?: readonly string[] }
}
export type Ctx = Context<Env>

export const respond = (c: Ctx, { http, type, body, headers }: ApiAnswer) =>
  c.body(body, http as 200, { ...headers, ...(type && { 'content-type': type }) })

type Headers = Readonly<Record<string, string>>

// An answer with all of its headers, as they are: the framework's own way copies them twice, name by name, for every page.
export function plainly(
  c: Ctx,
  http: number,
  body: string | Uint8Array<ArrayBuffer> | null,
  ...given: readonly Headers[]
): Response {
  const headers: Record<string, string> = { 'x-request-id': c.get('requestId') }
  for (const some of given) Object.assign(headers, some) // several times as fast as to spread them
  const answer = new Response(body, { status: http, headers })
  c.set('plain', answer)
  return answer
}
