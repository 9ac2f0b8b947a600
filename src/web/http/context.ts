import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import type { ApiAnswer } from './apiRequest.ts'

// What a page's handler gets.
export type Env = {
  Bindings: HttpBindings
  Variables: { requestId: string; frameOrigins?: readonly string[] }
}
export type Ctx = Context<Env>

export const respond = (c: Ctx, { http, type, body, headers }: ApiAnswer) =>
  c.body(body, http as 200, { ...headers, ...(type && { 'content-type': type }) })
