import { type Context, Hono } from 'hono'
import { getCookie } from 'hono/cookie'
import { type SignedIn, signedInUser } from '../../actions/access/sessions.ts'
import { dashboardMerchant } from '../../actions/access/places.ts'
import { isPermitted, type Permission, type Role } from '../../core/access/permissions.ts'
import { isConfirmed } from '../../core/access/user.ts'
import { formTokenField } from '../../core/formOrigin.ts'
import { TooBusy } from '../../core/interface/refusal.ts'
import { chosenLang, type Lang, preferredLang } from '../../core/languages/languages.ts'
import { isSecureAddress } from '../../core/operator/operatorKeys.ts'
import { isPlainText } from '../../core/text.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { minifyCss, readStyles } from '../documents/documents.ts'
import { addressOf } from '../http/apiRequest.ts'
import { readFields } from '../http/body.ts'
import type { Ctx, Env } from '../http/context.ts'
import { isRefusal } from '../http/errors.ts'
import { senderOf } from '../http/operatorAuth.ts'
import { isTokenOfSession, newFormToken } from './formToken.ts'
import { firstPath, ProblemPage, sendDashboardPage } from './frame/frame.tsx'
import { frameTexts } from './frame/frameTexts.ts'
import {
  type MerchantRoute,
  type MerchantVisit,
  merchantBase,
  type OperatorRoute,
  operatorBase,
  type OwnRoute,
  type Visit,
} from './route.ts'

// The frame, then the parts that only some areas need.
const styles = ['frame/dashboard.css']
const css = minifyCss(readStyles(...styles.map(file => new URL(`./${file}`, import.meta.url))))
const deadlineMs = 10_000 // of the statements of one request

export type DashboardDeps = {
  runtime: Pick<Runtime, 'db' | 'clock' | 'limits' | 'bodies' | 'formKey' | 'baseUrl'>
  trustedProxies: number
  isOverloaded(): boolean
}

// The routes of all areas. Each area exports a function that makes its routes.
export type DashboardRoutes = {
  merchant: readonly MerchantRoute[]
  operator: readonly OperatorRoute[]
  own: readonly OwnRoute[]
}

// Browsers accept the prefix __Host- only together with Secure.
export const userCookie = (baseUrl: string) =>
  isSecureAddress(baseUrl) ? '__Host-tollgate_session' : 'tollgate_session'

// The dashboard for merchants and the operator, mounted at /dashboard. Every route below passes the same guard.
export function dashboardRoutes(deps: DashboardDeps, all: DashboardRoutes) {
  const routes = new Hono<Env>({ strict: false })
  routes.get('/dashboard.css', c =>
    c.body(css, 200, { 'content-type': 'text/css; charset=utf-8', 'cache-control': 'no-cache' }),
  )
  routes.get('/', ownGuard(deps, { method: 'get', path: '/', handle: toFirstPlace }))
  for (const route of all.own) routes.on(route.method, route.path, ownGuard(deps, route))
  for (const route of all.operator)
    routes.on(route.method, `/operator${route.path}`, operatorGuard(deps, route))
  for (const route of all.merchant)
    routes.on(route.method, `/m/:merchant/:mode{test|live}${route.path}`, merchantGuard(deps, route))
  return routes
}

// The first place of a user: the operator's part, or that of his first merchant.
function toFirstPlace(c: Ctx, { signedIn: { user, memberships } }: Visit) {
  const [first] = memberships
  if (user.operator_role) return c.redirect(operatorBase, 303)
  if (!first) return c.redirect('/dashboard/account', 303)
  return c.redirect(
    `${merchantBase(first.merchant_id, 'live')}${firstPath({ at: 'merchant', role: first.role })}`,
    303,
  )
}

const ownGuard = (deps: DashboardDeps, route: OwnRoute) =>
  guarded(deps, route, (c, visit) => route.handle(c, visit))

const operatorGuard = (deps: DashboardDeps, route: OperatorRoute) =>
  guarded(deps, route, (c, visit) => {
    if (visit.role.at !== 'operator') return notFound(c, visit)
    return visit.may(route.permission) ? route.handle(c, visit) : refused(c, visit)
  })

const merchantGuard = (deps: DashboardDeps, route: MerchantRoute) =>
  guarded(deps, route, async (c, visit) => {
    const found = await visitMerchant(c, visit)
    if (!found) return notFound(c, visit)
    return found.may(route.permission) ? route.handle(c, found) : refused(c, found)
  })

// The merchant of the address, as the user may see it: as a member, or as an operator. Undefined for any other user, so that
// nobody learns which merchants exist.
async function visitMerchant(c: Ctx, visit: Visit): Promise<MerchantVisit | undefined> {
  const merchant_id = c.req.param('merchant') ?? ''
  const mode = c.req.param('mode') === 'live' ? 'live' : 'test'
  const { memberships, user } = visit.signedIn
  const membership = memberships.find(one => one.merchant_id === merchant_id)
  if (!membership && !user.operator_role) return undefined
  const merchant = membership
    ? { merchant_id, name: membership.merchant_name }
    : await dashboardMerchant(visit.db, merchant_id)
  if (!merchant) return undefined
  const role: Role = membership ? { at: 'merchant', role: membership.role } : visit.role
  return {
    ...visit,
    ...mayAs(role),
    merchant,
    mode,
    outlets: membership?.outlets ?? null,
    base: merchantBase(merchant_id, mode),
  }
}

const mayAs = (role: Role) => ({
  role,
  may: (permission: Permission) => isPermitted(role, permission),
})

type Guarded = { method: 'get' | 'post'; isSensitive?: boolean }
type Answer = (c: Ctx, visit: Visit) => Promise<Response> | Response

const guarded = (deps: DashboardDeps, route: Guarded, answer: Answer) => async (context: Context<Env>) => {
  const c = context as Ctx
  const lang = preferredLang(c.req.header('accept-language'))
  if (deps.isOverloaded()) return busy(c, lang, 503)
  try {
    const { runtime, trustedProxies } = deps
    const now = runtime.clock()
    const db = runtime.db.withQuota('dashboard').withDeadline(performance.now() + deadlineMs)
    const signedIn = await signedInUser(db, getCookie(c, userCookie(runtime.baseUrl())), now)
    if (!signedIn) return c.redirect(`/dashboard/sign-in?next=${encodeURIComponent(nextOf(c))}`, 303)
    const address = addressOf(c.env.incoming, trustedProxies)
    const fields = route.method === 'post' ? await readForm(c, deps, address, signedIn) : noFields
    if (!fields) return foreignForm(c, signedIn, lang)
    const visit = visitOf(signedIn, { address, now, db, lang, formKey: runtime.formKey, fields })
    if (route.isSensitive && !isConfirmed(signedIn.session, now))
      return c.redirect(`/dashboard/confirm?next=${encodeURIComponent(nextOf(c))}`, 303)
    return await answer(c, visit)
  } catch (error) {
    if (!isRefusal(error)) throw error
    if (error.isBodyUnread) c.header('connection', 'close')
    if (error.http === 429 || error instanceof TooBusy) return busy(c, lang, error.http)
    const { unavailable, foreignForm: refusedForm } = frameTexts[lang]
    const texts = error.http === 503 ? unavailable : refusedForm
    return sendDashboardPage(c, <ProblemPage lang={lang} texts={texts} />, error.http, { 'retry-after': '5' })
  }
}

type VisitParts = Pick<Visit, 'now' | 'db' | 'lang'> & {
  address: string
  formKey: Buffer
  fields: Readonly<Record<string, string>>
}

function visitOf(signedIn: SignedIn, { address, now, db, lang, formKey, fields }: VisitParts): Visit {
  const { user, session, memberships } = signedIn
  const role: Role = user.operator_role
    ? { at: 'operator', role: user.operator_role }
    : { at: 'merchant', role: memberships[0]?.role ?? 'cashier' }
  return {
    signedIn,
    ...mayAs(role),
    actor: { kind: 'user', id: user.user_id, address },
    lang: chosenLang(user.lang) ?? lang,
    now,
    db,
    formToken: newFormToken(formKey, session.session_digest),
    field: name => fields[name] ?? '',
  }
}

const noFields = {}

// The fields of a form of our own pages. Undefined if another site sent it, or the token is not that of the session.
async function readForm(c: Ctx, { runtime }: DashboardDeps, address: string, { session }: SignedIn) {
  if (senderOf(c, runtime.baseUrl()) === 'other_site') return undefined
  const { fields } = await readFields(c.env.incoming, { runtime, address })
  const texts: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(fields))
    if (typeof value === 'string' && isPlainText(value)) texts[name] = value
  const token = texts[formTokenField] ?? ''
  return isTokenOfSession(runtime.formKey, session.session_digest, token) ? texts : undefined
}

// Where to go after signing in: the page of this request, or of the form that was submitted.
function nextOf(c: Ctx): string {
  if (c.req.method === 'GET') return `${c.req.path}${new URL(c.req.url).search}`
  return c.req.path.replace(/\/[^/]*$/, '')
}

const notFound = (c: Ctx, { lang }: Visit) =>
  sendDashboardPage(c, <ProblemPage lang={lang} texts={frameTexts[lang].notFound} />, 404)

const refused = (c: Ctx, { lang }: Visit) =>
  sendDashboardPage(c, <ProblemPage lang={lang} texts={frameTexts[lang].refused} />, 403)

const foreignForm = (c: Ctx, { user }: SignedIn, preferred: Lang) => {
  const lang = chosenLang(user.lang) ?? preferred
  return sendDashboardPage(c, <ProblemPage lang={lang} texts={frameTexts[lang].foreignForm} />, 403)
}

const busy = (c: Ctx, lang: Lang, http: number) =>
  sendDashboardPage(c, <ProblemPage lang={lang} texts={frameTexts[lang].busy} />, http, {
    'retry-after': '5',
  })
