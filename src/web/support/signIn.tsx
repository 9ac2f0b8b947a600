import type { Next } from 'hono'
import { useSupportLink } from '../../actions/installation/supportLinks.ts'
import { pageHeaders } from '../../core/markup/page.tsx'
import type { Runtime } from '../../runtime/runtime.ts'
import { acceptsJson } from '../http/apiRequest.ts'
import { type Ctx, errorContext, respond } from '../http/context.ts'
import { isRefusal, plainAnswer } from '../http/errors.ts'
import {
  type Access,
  accessOf,
  limitWrongTokens,
  type OperatorAuth,
  startSession,
} from '../http/operatorAuth.ts'
import { LinkUnavailablePage, SignInPage, TooOftenPage, UsedLinkPage } from './pages.tsx'

// The middleware in front of every page for the operator. These pages show who pays.
export const guard =
  (headers: Readonly<Record<string, string>>, auth: OperatorAuth) => async (c: Ctx, next: Next) => {
    setHeaders(c, headers)
    const access = accessOf(c, auth)
    return access === 'granted' ? next() : refuse(c, auth, access)
  }

function setHeaders(c: Ctx, headers: Readonly<Record<string, string>>) {
  for (const [name, value] of Object.entries(headers)) c.header(name, value)
}

function refuse(c: Ctx, { keys }: OperatorAuth, access: Exclude<Access, 'granted'>) {
  const isProgram = acceptsJson(c.req.header('accept'))
  if (isRefusal(access)) {
    const seconds = access.retryAfterSeconds ?? 1
    c.header('retry-after', String(seconds))
    return isProgram ? refuseProgram(c, 429, 'too_often') : c.html(<TooOftenPage seconds={seconds} />, 429)
  }
  c.header('www-authenticate', keys.isTokenSet ? basicChallenge : bearerChallenge)
  if (isProgram) return refuseProgram(c, 401, 'password')
  return c.html(<SignInPage isTokenSet={keys.isTokenSet} />, 401)
}

// If the operator has chosen a token, the browser asks for it. Otherwise the challenge is Bearer, for which browsers
// show the page and no dialog.
const basicChallenge = 'Basic realm="Tollgate support", charset="UTF-8"'
const bearerChallenge = 'Bearer realm="Tollgate support"'

const refusals = {
  too_often: 'Too many wrong passwords came from your address.',
  password:
    'Send the support token as a bearer token, or as the password of Basic authentication. On the machine of the ' +
    'gateway, tollgate support token prints it, and tollgate support link prints a link for a browser.',
}

const refuseProgram = (c: Ctx, http: number, code: keyof typeof refusals) =>
  respond(c, plainAnswer(http, code, refusals[code], errorContext(c)))

// Where the dashboard leads while it has no account.
export type EnterFirstVisit = (c: Ctx) => Promise<string | undefined>

// A single-use link from the terminal: it sets the session cookie and redirects to the support page. GET uses the link
// up, because one click has to be enough; HEAD and a browser's prefetch do not.
export const enterRoute =
  ({ db }: Pick<Runtime, 'db'>, auth: OperatorAuth, enterFirstVisit?: EnterFirstVisit) =>
  async (c: Ctx) => {
    setHeaders(c, pageHeaders())
    if (c.req.method === 'HEAD' || isPrefetch(c)) return c.body(null, 204)
    // Every link counts as wrong before the database is asked, so that many at once are limited, too.
    const mayTry = limitWrongTokens(c, auth, () => false)
    if (isRefusal(mayTry)) return refuse(c, auth, mayTry)
    try {
      const isValid = await useSupportLink(db, auth.keys, c.req.query('link') ?? '', auth.clock())
      if (isValid) startSession(c, auth)
      const first = isValid ? await enterFirstVisit?.(c) : undefined
      if (first) return c.body(null, 303, { location: first })
      // The same link, opened again in a browser that is signed in, is not an error.
      if (isValid || accessOf(c, auth) === 'granted') return c.body(null, 303, { location: '/support' })
      return c.html(<UsedLinkPage />, 403)
    } catch (error) {
      if (!isRefusal(error)) throw error
      return c.html(<LinkUnavailablePage />, 503, { 'retry-after': '5' })
    }
  }

const isPrefetch = (c: Ctx) => /prefetch/i.test(c.req.header('sec-purpose') ?? c.req.header('purpose') ?? '')
