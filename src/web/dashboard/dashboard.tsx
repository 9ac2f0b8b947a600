import { type Context, Hono } from 'hono'
import { getCookie } from 'hono/cookie'
import { type SignedIn, signedInUser } from '../../actions/access/sessions.ts'
import { dashboardMerchant } from '../../actions/access/places.ts'
import { isPermitted, type Permission, type Role } from '../../core/access/permissions.ts'
import { isConfirmed } from '../../core/access/user.ts'
import { chosenLang, preferredLang } from '../../core/languages/languages.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { addressOf } from '../http/apiRequest.ts'
import type { Ctx, Env } from '../http/context.ts'
import { admitToDashboard } from './admission.tsx'
import { newFormToken } from './formToken.ts'
import { firstPath } from './frame/frame.tsx'
import { problemPage, refusalPage } from './frame/problems.tsx'
import { sendStyles } from './frame/styles.ts'
import { publicGuard } from './publicGuard.tsx'
import { type DashboardForm, readDashboardForm } from './readForm.ts'
import {
  type MerchantRoute,
  type MerchantVisit,
  merchantBase,
  type OperatorRoute,
  operatorBase,
  type OwnRoute,
  type PublicRoute,
  type Visit,
} from './route.ts'
import { isFromThisMachine } from './thisMachine.ts'
import { userCookie } from './userCookie.ts'

const deadlineMs = 10_000 // of the statements of one request

export type DashboardDeps = {
  runtime: Pick<Runtime, 'db' | 'clock' | 'installation' | 'limits' | 'bodies' | 'formKey' | 'dashboardUrl'>
  trustedProxies: number
  hasDemo: boolean
  isOverloaded(): boolean
}

// The routes of all areas. Each area exports a function that makes its routes.
export type DashboardRoutes = {
  merchant: readonly MerchantRoute[]
  operator: readonly OperatorRoute[]
  own: readonly OwnRoute[]
  open: readonly PublicRoute[]
}

// The dashboard for merchants and the operator, mounted at /dashboard. Every route below passes the same guard.
export function dashboardRoutes(deps: DashboardDeps, all: DashboardRoutes) {
  const routes = new Hono<Env>({ strict: false })
  routes.use(admitToDashboard(deps.isOverloaded))
  routes.get('/dashboard.css', c => sendStyles(c as Ctx))
  routes.get('/', ownGuard(deps, { method: 'get', path: '/', handle: toFirstPlace }))
  for (const route of all.open) routes.on(route.method, route.path, publicGuard(deps, route))
  for (const route of all.own) routes.on(route.method, route.path, ownGuard(deps, route))
  for (const route of all.operator)
    routes.on(route.method, `/operator${route.path}`, operatorGuard(deps, route))
  // The group keeps the alternatives together: without it `^test` matches any longer address, too.
  for (const route of all.merchant)
    routes.on(route.method, `/m/:merchant/:mode{(?:test|live)}${route.path}`, merchantGuard(deps, route))
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
    if (visit.role.at !== 'operator') return problemPage(c, visit.lang, 'notFound')
    return visit.may(route.permission) ? route.handle(c, visit) : problemPage(c, visit.lang, 'refused')
  })

const merchantGuard = (deps: DashboardDeps, route: MerchantRoute) =>
  guarded(deps, route, async (c, visit) => {
    const found = await visitMerchant(c, visit)
    if (!found) return problemPage(c, visit.lang, 'notFound')
    return found.may(route.permission) ? route.handle(c, found) : problemPage(c, found.lang, 'refused')
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

type Guarded = Pick<OwnRoute, 'method' | 'isSensitive' | 'isContinued' | 'isBeforeSecondFactor' | 'hasFile'>
type Answer = (c: Ctx, visit: Visit) => Promise<Response> | Response

const guarded = (deps: DashboardDeps, route: Guarded, answer: Answer) => async (context: Context<Env>) => {
  const c = context as Ctx
  const lang = preferredLang(c.req.header('accept-language'))
  try {
    const { runtime, trustedProxies } = deps
    const now = runtime.clock()
    const db = runtime.db.withQuota('dashboard').withDeadline(performance.now() + deadlineMs)
    const signedIn = await signedInUser(db, getCookie(c, userCookie(runtime.dashboardUrl())), now)
    if (!signedIn || isDemoElsewhere(deps, c, signedIn))
      return c.redirect(`/dashboard/sign-in?next=${encodeURIComponent(nextOf(c))}`, 303)
    const address = addressOf(c.env.incoming, trustedProxies)
    const session = signedIn.session.session_digest
    const form =
      route.method === 'post'
        ? await readDashboardForm(c, runtime, { address, session, hasFile: route.hasFile })
        : noForm
    if (!form) return problemPage(c, chosenLang(signedIn.user.lang) ?? lang, 'foreignForm')
    const visit = visitOf(signedIn, {
      address,
      now,
      db,
      installation: runtime.installation(),
      lang,
      formKey: runtime.formKey,
      form,
    })
    if (!route.isBeforeSecondFactor && lacksSecondFactor(signedIn.user)) return c.redirect(setupPath, 303)
    const isAsked = route.isSensitive && !signedIn.user.is_demo && !isConfirmed(signedIn.session, now)
    if (isAsked && !route.isContinued?.(visit))
      return c.redirect(`/dashboard/confirm?next=${encodeURIComponent(nextOf(c))}`, 303)
    return await answer(c, visit)
  } catch (error) {
    return refusalPage(c, lang, error)
  }
}

// The demo opens on this machine only.
const isDemoElsewhere = ({ hasDemo }: DashboardDeps, c: Ctx, { user }: SignedIn) =>
  user.is_demo && !(hasDemo && isFromThisMachine(c.env.incoming))

// Operators see all merchants, so a password alone does not open their part. The demo has no secrets to protect.
const lacksSecondFactor = ({ operator_role, sealed_totp, is_demo }: SignedIn['user']) =>
  operator_role !== null && sealed_totp === null && !is_demo

const setupPath = '/dashboard/account/second-factor'

type VisitParts = Pick<Visit, 'now' | 'db' | 'installation' | 'lang'> & {
  address: string
  formKey: Buffer
  form: DashboardForm
}

function visitOf(
  signedIn: SignedIn,
  { address, now, db, installation, lang, formKey, form }: VisitParts,
): Visit {
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
    installation,
    formToken: newFormToken(formKey, session.session_digest),
    field: name => form.fields[name] ?? '',
    file: name => form.files.get(name),
  }
}

const noForm: DashboardForm = { fields: {}, files: new Map() }

// Where to go after signing in: the page of this request, or of the form that was submitted.
function nextOf(c: Ctx): string {
  if (c.req.method === 'GET') return `${c.req.path}${new URL(c.req.url).search}`
  return c.req.path.replace(/\/[^/]*$/, '')
}
