import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'

export type Env = {
  Bindings: HttpBindings
  Variables: {
    requestId: string
    code?: string // of the refusal that was answered
    merchantId?: string
  }
}

export type Ctx = Context<Env>

// The address that asks. Behind proxies it is the one that the outermost trusted proxy saw.
export function addressOf(c: Ctx, trustedProxies: number): string {
  const socket = c.env.incoming.socket.remoteAddress ?? 'unknown'
  if (trustedProxies === 0) return socket
  const forwarded = (c.req.header('x-forwarded-for') ?? '').split(',').map(part => part.trim())
  return forwarded.at(-trustedProxies) || socket
}
