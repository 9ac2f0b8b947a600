import type { Next } from 'hono'
import type { RateLimits } from '../runtime/rateLimits.ts'
import { troublePage } from './checkout/open.tsx'
import { addressOf } from './http/apiRequest.ts'
import type { Ctx } from './http/context.ts'
import { isRefusal } from './http/errors.ts'

type SandboxLimitOptions = { limits: Pick<RateLimits, 'visitSandbox'>; trustedProxies: number }

// Anybody may open the sandbox's pages, and each reads the database.
export const limitSandboxPages =
  ({ limits, trustedProxies }: SandboxLimitOptions) =>
  async (c: Ctx, next: Next) => {
    try {
      limits.visitSandbox(addressOf(c.env.incoming, trustedProxies))
    } catch (error) {
      if (!isRefusal(error)) throw error
      return troublePage(error, c)
    }
    return next()
  }
