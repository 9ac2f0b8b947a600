import {
  changePassword,
  changeProfile,
  removeSecondFactor,
  renewRecoveryCodes,
  setUpSecondFactor,
} from '../../../actions/access/ownAccount.ts'
import { listPasskeys } from '../../../actions/access/passkeys.ts'
import { endOtherSessions, endSessionOf, listUserSessions } from '../../../actions/access/sessions.ts'
import { passkeySite } from '../../../core/access/passkey.ts'
import { isTotpSecret, newTotpSecret } from '../../../core/access/secondFactor.ts'
import { maxUserName } from '../../../core/access/user.ts'
import { chosenLang } from '../../../core/languages/languages.ts'
import { isAtMost } from '../../../core/text.ts'
import type { Ctx } from '../../http/context.ts'
import { sendDashboardPage } from '../frame/frame.tsx'
import type { OwnRoute, Visit } from '../route.ts'
import { PasskeyScript } from '../signIn/passkeySignIn.tsx'
import { sessionCookieText, setSession } from '../signIn/cookies.ts'
import { type AccessDeps, depsOf, orTooOften, retryLater } from '../signIn/signInRoutes.tsx'
import { signInTexts } from '../signIn/signInTexts.ts'
import { AccountPage, PlacesPage, RecoveryCodesPage, SecondFactorSetupPage } from './ownAccountPages.tsx'
import { type OwnNotice, ownAccountTexts } from './ownAccountTexts.ts'
import { PasskeysCard } from './passkeysCard.tsx'

const accountPath = '/dashboard/account'

const get = (path: string, handle: OwnRoute['handle'], more: Partial<OwnRoute> = {}): OwnRoute => ({
  method: 'get',
  path,
  handle,
  ...more,
})

export const ownAccountRoutes = (deps: AccessDeps): OwnRoute[] => {
  const post = (path: string, handle: Handle, more: Partial<OwnRoute> = {}): OwnRoute => ({
    method: 'post',
    path,
    handle: (c, visit) => handle(deps, c, visit),
    ...more,
  })
  const setup = { isSensitive: true, isBeforeSecondFactor: true }
  return [
    get('/places', (c, visit) => sendDashboardPage(c, <PlacesPage visit={visit} />)),
    get('/account', (c, visit) => showAccount(deps, c, visit)),
    post('/account/profile', saveProfileForm),
    post('/account/password', savePasswordForm, { isSensitive: true }),
    get('/account/second-factor', (c, visit) => showSetup(c, visit, newTotpSecret()), setup),
    post('/account/second-factor', finishSetup, setup),
    post('/account/second-factor/remove', switchOff, { isSensitive: true }),
    post('/account/recovery-codes', makeCodes, { isSensitive: true }),
    post('/account/sessions/end', endOne),
    post('/account/sessions/others', endOthers),
  ]
}

type Handle = (deps: AccessDeps, c: Ctx, visit: Visit) => Promise<Response>
type AccountFault = { of: 'name' | 'password'; text: string }

const done = (c: Ctx, notice: OwnNotice) => c.redirect(`${accountPath}?done=${notice}`, 303)

async function showAccount({ runtime }: AccessDeps, c: Ctx, visit: Visit, fault?: AccountFault, http = 200) {
  const sessions = await listUserSessions(visit.db, visit.signedIn.user.user_id, visit.now)
  const passkeys =
    passkeySite(runtime.dashboardUrl()) && (await listPasskeys(visit.db, visit.signedIn.user.user_id))
  const notices = Object.keys(ownAccountTexts[visit.lang].done) as OwnNotice[]
  const notice = notices.find(word => word === c.req.query('done'))
  return sendDashboardPage(
    c,
    <AccountPage
      visit={visit}
      sessions={sessions}
      notice={notice}
      fault={fault}
      head={passkeys && <PasskeyScript />}
      passkeys={passkeys && <PasskeysCard visit={visit} passkeys={passkeys} fault={passkeyFault(c, visit)} />}
    />,
    http,
    http === 429 ? retryLater : {},
  )
}

function passkeyFault(c: Ctx, { lang }: Visit): string | undefined {
  const { passkeyFailed, passkeyFull } = ownAccountTexts[lang]
  const word = c.req.query('passkey')
  return word === 'full' ? passkeyFull : word === 'failed' ? passkeyFailed : undefined
}

const showSetup = (c: Ctx, visit: Visit, secret: string, fault?: string) =>
  sendDashboardPage(
    c,
    <SecondFactorSetupPage visit={visit} secret={secret} fault={fault} />,
    fault ? 422 : 200,
  )

const changeOf = (c: Ctx, { actor, now }: Visit) => ({
  actor,
  now,
  browser: { address: actor.address, agent: c.req.header('user-agent') ?? '' },
})

async function saveProfileForm(deps: AccessDeps, c: Ctx, visit: Visit) {
  const name = visit.field('name').trim()
  const lang = chosenLang(visit.field('lang')) ?? visit.lang
  if (name === '' || !isAtMost(name, maxUserName))
    return showAccount(deps, c, visit, { of: 'name', text: ownAccountTexts[visit.lang].nameFault }, 422)
  await changeProfile(visit, visit.signedIn, { name, lang }, visit)
  return done(c, 'saved')
}

async function savePasswordForm(deps: AccessDeps, c: Ctx, visit: Visit) {
  const result = await orTooOften(
    changePassword(depsOf(deps, visit), visit.signedIn, visit.field('password'), changeOf(c, visit)),
  )
  const { faults, tooOften } = signInTexts[visit.lang]
  if (result === 'too_often') return showAccount(deps, c, visit, { of: 'password', text: tooOften }, 429)
  if (result === 'changed') return done(c, 'changed')
  if (typeof result === 'string')
    return showAccount(deps, c, visit, { of: 'password', text: faults[result] }, 422)
  setSession(c, deps.runtime.dashboardUrl(), result.sessionId)
  return done(c, 'password')
}

async function finishSetup(deps: AccessDeps, c: Ctx, visit: Visit) {
  const [secret, code, mark] = [visit.field('secret'), visit.field('code'), visit.field('mark')]
  const setup = { secret, code, mark }
  const result = await setUpSecondFactor(depsOf(deps, visit), visit.signedIn, setup, changeOf(c, visit))
  if (result === 'wrong_code')
    return showSetup(
      c,
      visit,
      isTotpSecret(secret) ? secret : newTotpSecret(),
      ownAccountTexts[visit.lang].wrongCode,
    )
  if (result === 'changed') return done(c, 'changed')
  return sendDashboardPage(c, <RecoveryCodesPage visit={visit} codes={result.codes} />, 200, {
    'set-cookie': sessionCookieText(deps.runtime.dashboardUrl(), result.sessionId),
  })
}

async function switchOff(deps: AccessDeps, c: Ctx, visit: Visit) {
  const sessionId = await removeSecondFactor(visit, visit.signedIn, changeOf(c, visit))
  if (sessionId === undefined) return done(c, 'changed')
  setSession(c, deps.runtime.dashboardUrl(), sessionId)
  return done(c, 'removed')
}

async function makeCodes(_deps: AccessDeps, c: Ctx, visit: Visit) {
  const codes = await renewRecoveryCodes(visit, visit.signedIn, visit.field('mark'), visit)
  if (!codes) return done(c, 'changed')
  return sendDashboardPage(c, <RecoveryCodesPage visit={visit} codes={codes} />)
}

async function endOne(_deps: AccessDeps, c: Ctx, visit: Visit) {
  await endSessionOf(visit.db, visit.signedIn, visit.field('session'), visit.actor, visit.now)
  return done(c, 'ended')
}

async function endOthers(_deps: AccessDeps, c: Ctx, visit: Visit) {
  await endOtherSessions(visit.db, visit.signedIn, visit.actor, visit.now)
  return done(c, 'others')
}
