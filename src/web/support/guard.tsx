import type { Next } from 'hono'
import type { Ctx } from '../context.ts'
import { accessOf } from './access.ts'
import { ElsewherePage, PasswordPage } from './pages.tsx'

// Stands before every page that tells who pays.
export const guard =
  (headers: Readonly<Record<string, string>>, token?: string) => async (c: Ctx, next: Next) => {
    for (const [name, value] of Object.entries(headers)) c.header(name, value)
    const access = accessOf(c, token)
    if (access === 'granted') return next()
    if (access === 'elsewhere') return c.html(<ElsewherePage />, 403)
    c.header('www-authenticate', 'Basic realm="Tollgate support", charset="UTF-8"')
    return c.html(<PasswordPage />, 401)
  }
