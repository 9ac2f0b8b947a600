import { acceptInvitation, openInvitation } from '../../../actions/access/invitations.ts'
import { requestReset, resetPassword, userOfReset } from '../../../actions/access/resetPassword.ts'
import { completeSignIn } from '../../../actions/access/signIn.ts'
import { maxUserEmail, maxUserName } from '../../../core/access/user.ts'
import { chosenLang } from '../../../core/languages/languages.ts'
import { isAtMost, isEmail } from '../../../core/text.ts'
import type { Ctx } from '../../http/context.ts'
import type { PublicRoute, PublicVisit } from '../route.ts'
import { browserOf, setSignedIn } from '../signIn/cookies.ts'
import { sendPublicPage } from '../signIn/signInPages.tsx'
import { type AccessDeps, depsOf, orTooOften, retryLater, toSignIn } from '../signIn/signInRoutes.tsx'
import { signInTexts } from '../signIn/signInTexts.ts'
import { AcceptPage, AskResetPage, EndedLinkPage, NewPasswordPage, ResetSentPage } from './linkPages.tsx'
import { linkTexts } from './linkTexts.ts'

// The pages of the links in mails: a new password, and an invitation. A GET changes nothing, because programs that check
// mails open their links.
export const linkRoutes = (deps: AccessDeps): PublicRoute[] => [
  {
    method: 'get',
    path: '/reset',
    handle: (c, visit) => sendPublicPage(c, visit, <AskResetPage visit={visit} />),
  },
  { method: 'post', path: '/reset', handle: (c, visit) => askReset(deps, c, visit) },
  { method: 'get', path: '/reset/:token', handle: (c, visit) => showNewPassword(deps, c, visit) },
  { method: 'post', path: '/reset/:token', handle: (c, visit) => saveNewPassword(deps, c, visit) },
  { method: 'get', path: '/invitation/:token', handle: (c, visit) => showInvitation(deps, c, visit) },
  { method: 'post', path: '/invitation/:token', handle: (c, visit) => accept(deps, c, visit) },
]

const tokenOf = (c: Ctx) => c.req.param('token') ?? ''

const ended = (c: Ctx, visit: PublicVisit, isReset: boolean) =>
  sendPublicPage(c, visit, <EndedLinkPage lang={visit.lang} isReset={isReset} />, 410)

async function askReset({ runtime: { limits } }: AccessDeps, c: Ctx, visit: PublicVisit) {
  const email = visit.field('email').trim()
  const again = (fault: string, http: number, more = {}) =>
    sendPublicPage(c, visit, <AskResetPage visit={visit} email={email} fault={fault} />, http, more)
  if (!isEmail(email) || email.length > maxUserEmail) return again(linkTexts[visit.lang].emailFault, 422)
  const request = { email, lang: visit.lang, address: visit.address }
  const result = await orTooOften(requestReset({ db: visit.db, limits }, request, visit.now))
  if (result === 'too_often') return again(signInTexts[visit.lang].tooOften, 429, retryLater)
  return sendPublicPage(c, visit, <ResetSentPage visit={visit} email={email} />)
}

const resetAction = (c: Ctx) => `/dashboard/reset/${tokenOf(c)}`

async function showNewPassword({ runtime: { formKey } }: AccessDeps, c: Ctx, visit: PublicVisit) {
  const found = await userOfReset({ db: visit.db, formKey }, tokenOf(c), visit.now)
  if (!found) return ended(c, visit, true)
  return sendPublicPage(c, visit, <NewPasswordPage visit={visit} action={resetAction(c)} />)
}

async function saveNewPassword({ runtime: { formKey }, hasher }: AccessDeps, c: Ctx, visit: PublicVisit) {
  const { db, address, now } = visit
  const password = visit.field('password')
  const result = await orTooOften(resetPassword({ db, formKey, hasher }, tokenOf(c), password, address, now))
  if (result === 'done') return toSignIn(c, 'changed')
  if (result === 'ended') return ended(c, visit, true)
  const { faults, tooOften } = signInTexts[visit.lang]
  const isLimited = result === 'too_often'
  const fault = isLimited ? tooOften : faults[result]
  const page = <NewPasswordPage visit={visit} action={resetAction(c)} fault={fault} />
  return sendPublicPage(c, visit, page, isLimited ? 429 : 422, isLimited ? retryLater : {})
}

const invitationAction = (c: Ctx) => `/dashboard/invitation/${tokenOf(c)}`

async function showInvitation({ runtime: { formKey } }: AccessDeps, c: Ctx, visit: PublicVisit) {
  const invitation = await openInvitation({ db: visit.db, formKey }, tokenOf(c), visit.now)
  if (!invitation) return ended(c, visit, false)
  return sendPublicPage(
    c,
    visit,
    <AcceptPage visit={visit} invitation={invitation} action={invitationAction(c)} />,
  )
}

async function accept(deps: AccessDeps, c: Ctx, visit: PublicVisit) {
  const { formKey, dashboardUrl } = deps.runtime
  const { db, address, now, lang } = visit
  const invitation = await openInvitation({ db, formKey }, tokenOf(c), now)
  if (!invitation) return ended(c, visit, false)
  const name = visit.field('name').trim()
  const typed = { name, lang: chosenLang(visit.field('lang')) ?? lang, password: visit.field('password') }
  const again = (of: 'name' | 'password' | 'form', text: string, http: number, more = {}) => {
    const fault = { of, text }
    const page = (
      <AcceptPage
        visit={visit}
        invitation={invitation}
        action={invitationAction(c)}
        typed={typed}
        fault={fault}
      />
    )
    return sendPublicPage(c, visit, page, http, more)
  }
  if (!invitation.user && (name === '' || !isAtMost(name, maxUserName)))
    return again('name', linkTexts[lang].nameFault, 422)
  const result = await orTooOften(
    acceptInvitation({ db, formKey, hasher: deps.hasher }, tokenOf(c), typed, address, now),
  )
  if (result === 'ended') return ended(c, visit, false)
  const { faults, tooOften } = signInTexts[lang]
  if (result === 'too_often') return again('form', tooOften, 429, retryLater)
  if (typeof result === 'string') return again('password', faults[result], 422)
  if (!result.isNew) return toSignIn(c, 'joined')
  // The person has just chosen the password, so it is not asked for again.
  const browser = browserOf(c, dashboardUrl(), visit)
  setSignedIn(c, dashboardUrl(), await completeSignIn(depsOf(deps, visit), result.user, browser, now))
  return c.redirect('/dashboard', 303)
}
