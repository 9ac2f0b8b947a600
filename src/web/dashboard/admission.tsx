import type { MiddlewareHandler } from 'hono'
import { preferredLang } from '../../core/languages/languages.ts'
import type { Ctx, Env } from '../http/context.ts'
import { busyPage } from './frame/problems.tsx'

const maxAtOnce = 100 // requests of the dashboard: more would only wait for its few connections

// The dashboard is refused first: before anything of a payment is, and before its requests pile up.
export function admitToDashboard(isOverloaded: () => boolean): MiddlewareHandler<Env> {
  let running = 0
  return async (c, next) => {
    if (isOverloaded() || running >= maxAtOnce)
      return busyPage(c as Ctx, preferredLang(c.req.header('accept-language')), 503)
    running++
    await next().finally(() => running--)
    return undefined
  }
}
