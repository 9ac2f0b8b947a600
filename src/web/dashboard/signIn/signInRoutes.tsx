import { hasRealUsers } from '../../../actions/installation/firstVisit.ts'
import { confirmIdentity } from '../../../actions/access/ownAccount.ts'
import { signOut } from '../../../actions/access/sessions.ts'
import {
  pendingUser,
  type SignInDeps,
  signInWithCode,
  signInWithPassword,
} from '../../../actions/access/signIn.ts'
import { nextPage } from '../../../core/access/nextPage.ts'
import { passkeySite } from '../../../core/access/passkey.ts'
import type { PasswordHasher } from '../../../runtime/passwordHasher.ts'
import type { Ctx } from '../../http/context.ts'
import { isRefusal } from '../../http/errors.ts'
import type { AreaDeps } from '../areaDeps.ts'
import { sendDashboardPage } from '../frame/frame.tsx'
import type { OwnRoute, PublicRoute, PublicVisit, Visit } from '../route.ts'
import { browserOf, endCookies, pendingIn, setPending, setSignedIn } from './cookies.ts'
import {
  ConfirmPage,
  SecondFactorPage,
  sendPublicPage,
  type SignInNotice,
  SignInPage,
} from './signInPages.tsx'
import { signInTexts } from './signInTexts.ts'

export type AccessDeps = AreaDeps & { hasher: PasswordHasher }

export const signInRoutes = (deps: AccessDeps): PublicRoute[] => [
  { method: 'get', path: '/sign-in', handle: (c, visit) => showSignIn(deps, c, visit) },
  { method: 'post', path: '/sign-in', handle: (c, visit) => takePassword(deps, c, visit) },
  { method: 'get', path: '/second-factor', handle: (c, visit) => showSecondFactor(deps, c, visit) },
  { method: 'post', path: '/second-factor', handle: (c, visit) => takeCode(deps, c, visit) },
]

export const ownSignInRoutes = (deps: AccessDeps): OwnRoute[] => [
  {
    method: 'post',
    path: '/sign-out',
    isBeforeSecondFactor: true,
    handle: (c, visit) => leave(deps, c, visit),
  },
  { method: 'get', path: '/confirm', isBeforeSecondFactor: true, handle: showConfirm },
  {
    method: 'post',
    path: '/confirm',
    isBeforeSecondFactor: true,
    handle: (c, visit) => confirm(deps, c, visit),
  },
]

export const depsOf = (
  { runtime, masterKeys, hasher }: AccessDeps,
  { db }: Pick<PublicVisit, 'db'>,
): SignInDeps => ({
  db,
  hasher,
  limits: runtime.limits,
  masterKeys,
  formKey: runtime.formKey,
})

// The result of the work, or 'too_often' if the account, the address or the hasher has reached its limit.
export async function orTooOften<T>(work: Promise<T>): Promise<T | 'too_often'> {
  try {
    return await work
  } catch (error) {
    if (isRefusal(error) && error.http === 429) return 'too_often'
    throw error
  }
}

export const retryLater = { 'retry-after': '60' }

const hasPasskeys = (baseUrl: string) => passkeySite(baseUrl) !== undefined

const notices: readonly SignInNotice[] = ['signedOut', 'changed', 'ended', 'joined']

// Without an account nobody can sign in: the first visit explains how to create it.
async function showSignIn({ runtime }: AccessDeps, c: Ctx, visit: PublicVisit) {
  if (!(await hasRealUsers(visit.db))) return c.redirect('/dashboard/first-visit', 303)
  const done = c.req.query('done')
  const notice = notices.find(word => word === done)
  return sendPublicPage(
    c,
    visit,
    <SignInPage
      visit={visit}
      next={nextPage(c.req.query('next'))}
      notice={notice}
      hasPasskeys={hasPasskeys(runtime.dashboardUrl())}
    />,
  )
}

async function takePassword(deps: AccessDeps, c: Ctx, visit: PublicVisit) {
  const baseUrl = deps.runtime.dashboardUrl()
  const [email, next] = [visit.field('email'), nextPage(visit.field('next'))]
  const typed = { email, password: visit.field('password') }
  const browser = browserOf(c, baseUrl, visit)
  const result = await orTooOften(signInWithPassword(depsOf(deps, visit), typed, browser, visit.now))
  const texts = signInTexts[visit.lang]
  const again = (fault: string, http: number, more = {}) =>
    sendPublicPage(
      c,
      visit,
      <SignInPage visit={visit} next={next} email={email} fault={fault} hasPasskeys={hasPasskeys(baseUrl)} />,
      http,
      more,
    )
  if (result === 'too_often') return again(texts.tooOften, 429, retryLater)
  if (result.step === 'wrong') return again(texts.wrong, 401)
  if (result.step === 'second_factor') {
    setPending(c, baseUrl, result.pending)
    return c.redirect(`/dashboard/second-factor?next=${encodeURIComponent(next)}`, 303)
  }
  setSignedIn(c, baseUrl, result)
  return c.redirect(next, 303)
}

export const toSignIn = (c: Ctx, notice: SignInNotice, next = '/dashboard') =>
  c.redirect(`/dashboard/sign-in?done=${notice}&next=${encodeURIComponent(next)}`, 303)

async function showSecondFactor(deps: AccessDeps, c: Ctx, visit: PublicVisit) {
  const next = nextPage(c.req.query('next'))
  const user = await pendingUser(depsOf(deps, visit), pendingIn(c, deps.runtime.dashboardUrl()), visit.now)
  if (!user) return toSignIn(c, 'ended', next)
  return sendPublicPage(c, visit, <SecondFactorPage visit={visit} next={next} />)
}

async function takeCode(deps: AccessDeps, c: Ctx, visit: PublicVisit) {
  const baseUrl = deps.runtime.dashboardUrl()
  const next = nextPage(visit.field('next'))
  const browser = browserOf(c, baseUrl, visit)
  const result = await orTooOften(
    signInWithCode(depsOf(deps, visit), pendingIn(c, baseUrl), visit.field('code'), browser, visit.now),
  )
  const texts = signInTexts[visit.lang]
  const again = (fault: string, http: number, more = {}) =>
    sendPublicPage(c, visit, <SecondFactorPage visit={visit} next={next} fault={fault} />, http, more)
  if (result === 'too_often') return again(texts.tooOften, 429, retryLater)
  if (result.step === 'wrong') return again(texts.wrongCode, 401)
  if (result.step === 'ended') return toSignIn(c, 'ended', next)
  setSignedIn(c, baseUrl, result)
  return c.redirect(next, 303)
}

async function leave(deps: AccessDeps, c: Ctx, visit: Visit) {
  await signOut(visit.db, visit.signedIn)
  endCookies(c, deps.runtime.dashboardUrl())
  return toSignIn(c, 'signedOut')
}

const hasCodes = ({ signedIn }: Visit) => signedIn.user.sealed_totp !== null

function showConfirm(c: Ctx, visit: Visit) {
  const { lang, formToken } = visit
  const page = (
    <ConfirmPage
      lang={lang}
      formToken={formToken}
      next={nextPage(c.req.query('next'))}
      hasCodes={hasCodes(visit)}
    />
  )
  return sendDashboardPage(c, page)
}

async function confirm(deps: AccessDeps, c: Ctx, visit: Visit) {
  const { lang, formToken, signedIn, now } = visit
  const next = nextPage(visit.field('next'))
  const browser = browserOf(c, deps.runtime.dashboardUrl(), { address: visit.actor.address, agent: '' })
  const isRight = await orTooOften(
    confirmIdentity(depsOf(deps, visit), signedIn, visit.field('secret'), browser, now),
  )
  if (isRight === true) return c.redirect(next, 303)
  const texts = signInTexts[lang]
  const isLimited = isRight === 'too_often'
  const fault = isLimited ? texts.tooOften : texts.wrongConfirm
  const page = (
    <ConfirmPage lang={lang} formToken={formToken} next={next} hasCodes={hasCodes(visit)} fault={fault} />
  )
  return sendDashboardPage(c, page, isLimited ? 429 : 401, isLimited ? retryLater : {})
}
