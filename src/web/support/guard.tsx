import type { Next } from 'hono'
import { wantsJson } from '../http/accepts.ts'
import { type Ctx, respond } from '../http/context.ts'
import { isRefusal, plainAnswer } from '../http/errors.ts'
import { accessOf, type OperatorDoor } from '../http/operatorDoor.ts'
import { PasswordPage, ShutPage, TooOftenPage } from './pages.tsx'

// Stands before every page that tells who pays.
export const guard =
  (headers: Readonly<Record<string, string>>, door: OperatorDoor) => async (c: Ctx, next: Next) => {
    for (const [name, value] of Object.entries(headers)) c.header(name, value)
    const access = accessOf(c.env.incoming, passwordOf(c.req.header('authorization') ?? ''), door)
    if (access === 'granted') return next()
    const isProgram = wantsJson(c.req.header('accept'))
    if (access === 'shut') return isProgram ? tell(c, 403, 'shut') : c.html(<ShutPage />, 403)
    if (isRefusal(access)) {
      const seconds = access.retryAfterSeconds ?? 1
      c.header('retry-after', String(seconds))
      return isProgram ? tell(c, 429, 'too_often') : c.html(<TooOftenPage seconds={seconds} />, 429)
    }
    c.header('www-authenticate', 'Basic realm="Tollgate support", charset="UTF-8"')
    return isProgram ? tell(c, 401, 'password') : c.html(<PasswordPage />, 401)
  }

const words = {
  shut: 'This address is shut until TOLLGATE_SUPPORT_TOKEN is set on the gateway.',
  too_often: 'Too many wrong passwords came from your address.',
  password: 'Give the support password, by any user name.',
}

const tell = (c: Ctx, http: number, code: keyof typeof words) =>
  respond(c, plainAnswer(http, code, words[code], c.get('requestId')))

// A bearer token for programs, a password for people, whose name does not matter. Undefined where there is neither.
function passwordOf(header: string): string | undefined {
  const [, bearer] = /^bearer +(.+)$/i.exec(header) ?? []
  if (bearer !== undefined) return bearer
  const [, encoded] = /^basic +([a-z0-9+/=]+)$/i.exec(header) ?? []
  if (encoded === undefined) return undefined
  const pair = Buffer.from(encoded, 'base64').toString('utf8')
  return pair.slice(pair.indexOf(':') + 1)
}
