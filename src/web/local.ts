import type { Ctx } from './context.ts'
import { addressOf } from './exchange.ts'

// Asked from this machine. A proxy on it speaks for somebody else.
export const isLocal = (c: Ctx) =>
  /^(127\.|::1$|::ffff:127\.)/.test(addressOf(c.env.incoming, 0)) && !c.req.header('x-forwarded-for')
