import {
  createFirstAccount,
  hasRealUsers,
  startDemoSession,
} from '../../../actions/installation/firstVisit.ts'
import { getCookie, setCookie } from 'hono/cookie'
import {
  firstVisitSeconds,
  isFirstVisitMark,
  newFirstVisitMark,
} from '../../../core/access/firstVisitMark.ts'
import { maxUserEmail, maxUserName } from '../../../core/access/user.ts'
import { isSecureAddress } from '../../../core/operator/operatorKeys.ts'
import { isAtMost, isEmail } from '../../../core/text.ts'
import { addressOf } from '../../http/apiRequest.ts'
import type { Ctx } from '../../http/context.ts'
import type { AreaDeps } from '../areaDeps.ts'
import type { PublicRoute, PublicVisit } from '../route.ts'
import { setSession } from '../signIn/cookies.ts'
import { sendPublicPage } from '../signIn/signInPages.tsx'
import { type AccessDeps, orTooOften, retryLater } from '../signIn/signInRoutes.tsx'
import { signInTexts } from '../signIn/signInTexts.ts'
import { isFromThisMachine } from '../thisMachine.ts'
import { userCookie } from '../userCookie.ts'
import {
  type AccountFault,
  AccountExistsPage,
  FirstVisitPage,
  firstVisitPath,
  NoAccountPage,
} from './firstVisitPages.tsx'
import { firstVisitTexts } from './firstVisitTexts.ts'

export const firstVisitRoutes = (deps: AccessDeps): PublicRoute[] => [
  { method: 'get', path: '/first-visit', handle: (c, visit) => showFirstVisit(deps, c, visit) },
  { method: 'post', path: '/first-visit', handle: (c, visit) => takeAccount(deps, c, visit) },
]

const markCookie = (baseUrl: string) =>
  isSecureAddress(baseUrl) ? '__Host-tollgate_first_visit' : 'tollgate_first_visit'

type EnterDeps = Pick<AreaDeps, 'runtime' | 'hasDemo' | 'trustedProxies'>

// After a link of the terminal was used. While there is no account, the browser may create the first one, and on a new
// installation for one machine it is signed in to the demo. Returns where to go, or undefined if there are accounts.
export const enterFirstVisit =
  ({ runtime, hasDemo, trustedProxies }: EnterDeps) =>
  async (c: Ctx): Promise<string | undefined> => {
    const [baseUrl, now] = [runtime.dashboardUrl(), runtime.clock()]
    const db = runtime.db.withQuota('sign_in')
    if (await hasRealUsers(db)) return undefined
    const browser = {
      address: addressOf(c.env.incoming, trustedProxies),
      agent: c.req.header('user-agent') ?? '',
    }
    setCookie(c, markCookie(baseUrl), newFirstVisitMark(runtime.formKey, now), {
      path: '/',
      httpOnly: true,
      sameSite: 'Lax',
      secure: isSecureAddress(baseUrl),
      maxAge: firstVisitSeconds,
    })
    const sessionId =
      hasDemo && isFromThisMachine(c.env.incoming) ? await startDemoSession(db, browser, now) : undefined
    if (sessionId !== undefined) setSession(c, baseUrl, sessionId)
    return firstVisitPath
  }

const mayCreate = ({ runtime }: AccessDeps, c: Ctx, { now }: PublicVisit) =>
  isFirstVisitMark(runtime.formKey, getCookie(c, markCookie(runtime.dashboardUrl())) ?? '', now)

type Typed = { name: string; email: string }

// What is shown instead of the form, if anything.
async function refusalInstead(deps: AccessDeps, c: Ctx, visit: PublicVisit) {
  if (await hasRealUsers(visit.db)) return sendPublicPage(c, visit, <AccountExistsPage visit={visit} />)
  return mayCreate(deps, c, visit)
    ? undefined
    : sendPublicPage(c, visit, <NoAccountPage visit={visit} />, 403)
}

async function showFirstVisit(
  deps: AccessDeps,
  c: Ctx,
  visit: PublicVisit,
  problem: { typed?: Typed; fault?: AccountFault; http?: number } = {},
) {
  const instead = await refusalInstead(deps, c, visit)
  if (instead) return instead
  const { typed, fault, http = 200 } = problem
  const hasDemo = deps.hasDemo && getCookie(c, userCookie(deps.runtime.dashboardUrl())) !== undefined
  const page = <FirstVisitPage visit={visit} hasDemo={hasDemo} typed={typed} fault={fault} />
  return sendPublicPage(c, visit, page, http, http === 429 ? retryLater : {})
}

async function takeAccount(deps: AccessDeps, c: Ctx, visit: PublicVisit) {
  const instead = await refusalInstead(deps, c, visit)
  if (instead) return instead
  const { db, lang, address, agent, now } = visit
  const [texts, typed] = [
    firstVisitTexts[lang],
    { name: visit.field('name').trim(), email: visit.field('email').trim() },
  ]
  const again = (of: AccountFault['of'], text: string, http = 422) =>
    showFirstVisit(deps, c, visit, { typed, fault: { of, text }, http })
  if (typed.name === '' || !isAtMost(typed.name, maxUserName)) return again('name', texts.nameFault)
  if (!isEmail(typed.email) || !isAtMost(typed.email, maxUserEmail)) return again('email', texts.emailFault)
  const account = { ...typed, lang, password: visit.field('password') }
  const result = await orTooOften(
    createFirstAccount({ db, hasher: deps.hasher }, account, { address, agent }, now),
  )
  if (result === 'too_often') return again('form', texts.tooOften, 429)
  if (result === 'exists') return c.redirect(firstVisitPath, 303)
  if (typeof result === 'string') return again('password', signInTexts[lang].faults[result])
  setSession(c, deps.runtime.dashboardUrl(), result.sessionId)
  return c.redirect('/dashboard', 303)
}
