import type { Next } from 'hono'
import type { Ctx } from '../http/context.ts'
import { isRefusal } from '../http/errors.ts'
import { accessOf, type OperatorDoor } from '../http/operatorDoor.ts'
import { PasswordPage, ShutPage, TooOftenPage } from './pages.tsx'

// Stands before every page that tells who pays.
export const guard =
  (headers: Readonly<Record<string, string>>, door: OperatorDoor) => async (c: Ctx, next: Next) => {
    for (const [name, value] of Object.entries(headers)) c.header(name, value)
    const access = accessOf(c.env.incoming, passwordOf(c.req.header('authorization') ?? ''), door)
    if (access === 'granted') return next()
    if (access === 'shut') return c.html(<ShutPage />, 403)
    if (isRefusal(access)) {
      const seconds = access.retryAfterSeconds ?? 1
      return c.html(<TooOftenPage seconds={seconds} />, 429, { 'retry-after': String(seconds) })
    }
    c.header('www-authenticate', 'Basic realm="Tollgate support", charset="UTF-8"')
    return c.html(<PasswordPage />, 401)
  }

// The name does not matter. Undefined where there is no password at all.
function passwordOf(header: string): string | undefined {
  const [, encoded] = /^basic +([a-z0-9+/=]+)$/i.exec(header) ?? []
  if (encoded === undefined) return undefined
  const pair = Buffer.from(encoded, 'base64').toString('utf8')
  return pair.slice(pair.indexOf(':') + 1)
}
