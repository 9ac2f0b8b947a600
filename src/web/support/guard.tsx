import type { Next } from 'hono'
import { wantsJson } from '../http/accepts.ts'
import { type Ctx, respond } from '../http/context.ts'
import { isRefusal, plainAnswer } from '../http/errors.ts'
import { type Access, accessOf, type OperatorDoor } from '../http/operatorDoor.ts'
import { RefusedPage, TooOftenPage } from './pages.tsx'

// Stands before every page that tells who pays.
export const guard =
  (headers: Readonly<Record<string, string>>, door: OperatorDoor) => async (c: Ctx, next: Next) => {
    setHeaders(c, headers)
    const access = accessOf(c, door)
    return access === 'granted' ? next() : refuse(c, door, access)
  }

export function setHeaders(c: Ctx, headers: Readonly<Record<string, string>>) {
  for (const [name, value] of Object.entries(headers)) c.header(name, value)
}

export function refuse(c: Ctx, { keys }: OperatorDoor, access: Exclude<Access, 'granted'>) {
  const isProgram = wantsJson(c.req.header('accept'))
  if (isRefusal(access)) {
    const seconds = access.retryAfterSeconds ?? 1
    c.header('retry-after', String(seconds))
    return isProgram ? tell(c, 429, 'too_often') : c.html(<TooOftenPage seconds={seconds} />, 429)
  }
  c.header('www-authenticate', keys.isTokenSet ? askPassword : askToken)
  return isProgram ? tell(c, 401, 'password') : c.html(<RefusedPage isTokenSet={keys.isTokenSet} />, 401)
}

// A browser asks for the password that the operator has chosen. It shows the page, and no dialog, where there is none.
const askPassword = 'Basic realm="Tollgate support", charset="UTF-8"'
const askToken = 'Bearer realm="Tollgate support"'

const words = {
  too_often: 'Too many wrong passwords came from your address.',
  password:
    'Send the support token as a bearer token, or as the password of Basic authentication. On the machine of the ' +
    'gateway, tollgate support token prints it, and tollgate support link prints a link for a browser.',
}

const tell = (c: Ctx, http: number, code: keyof typeof words) =>
  respond(c, plainAnswer(http, code, words[code], c.get('requestId')))
