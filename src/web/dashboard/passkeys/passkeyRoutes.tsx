import {
  askToRegister,
  askToSignIn,
  registerPasskey,
  removeOwnPasskey,
  signInWithPasskey,
} from '../../../actions/access/passkeys.ts'
import { nextPage } from '../../../core/access/nextPage.ts'
import { maxPasskeyName, passkeySite } from '../../../core/access/passkey.ts'
import { cleanText } from '../../../core/text.ts'
import type { Ctx } from '../../http/context.ts'
import { problemPage } from '../frame/problems.tsx'
import type { OwnRoute, PublicRoute, PublicVisit, Visit } from '../route.ts'
import { browserOf, setPasskeyProof, setSignedIn, takePasskeyProof } from '../signIn/cookies.ts'
import { sendPublicPage, SignInPage } from '../signIn/signInPages.tsx'
import { type AccessDeps, depsOf, orTooOften, retryLater } from '../signIn/signInRoutes.tsx'
import { signInTexts } from '../signIn/signInTexts.ts'

export const passkeyRoutes = (deps: AccessDeps): PublicRoute[] => [
  { method: 'post', path: '/passkey-options', handle: (c, visit) => sendSignInOptions(deps, c, visit) },
  { method: 'post', path: '/passkey', handle: (c, visit) => takePasskey(deps, c, visit) },
]

export const ownPasskeyRoutes = (deps: AccessDeps): OwnRoute[] => {
  const post = (
    path: string,
    handle: (deps: AccessDeps, c: Ctx, visit: Visit) => Promise<Response>,
  ): OwnRoute => ({ method: 'post', path, isSensitive: true, handle: (c, visit) => handle(deps, c, visit) })
  return [
    post('/account/passkey-options', sendRegisterOptions),
    post('/account/passkey-add', add),
    post('/account/passkey-remove', remove),
  ]
}

async function sendSignInOptions({ runtime }: AccessDeps, c: Ctx, { lang, now }: PublicVisit) {
  const baseUrl = runtime.dashboardUrl()
  const site = passkeySite(baseUrl)
  if (!site) return problemPage(c, lang, 'notFound')
  const { options, proof } = await askToSignIn(runtime.formKey, site, now)
  setPasskeyProof(c, baseUrl, proof)
  return c.json(options)
}

async function takePasskey(deps: AccessDeps, c: Ctx, visit: PublicVisit) {
  const baseUrl = deps.runtime.dashboardUrl()
  const site = passkeySite(baseUrl)
  if (!site) return problemPage(c, visit.lang, 'notFound')
  const next = nextPage(visit.field('next'))
  const answer = { credential: visit.field('credential'), proof: takePasskeyProof(c, baseUrl) }
  const browser = browserOf(c, baseUrl, visit)
  const result = await orTooOften(signInWithPasskey(depsOf(deps, visit), site, answer, browser, visit.now))
  const texts = signInTexts[visit.lang]
  const again = (fault: string, http: number, more = {}) =>
    sendPublicPage(c, visit, <SignInPage visit={visit} next={next} fault={fault} hasPasskeys />, http, more)
  if (result === 'too_often') return again(texts.tooOften, 429, retryLater)
  if (result.step === 'wrong') return again(texts.passkeyFailed, 401)
  setSignedIn(c, baseUrl, result)
  return c.redirect(next, 303)
}

async function sendRegisterOptions({ runtime }: AccessDeps, c: Ctx, visit: Visit) {
  const { formKey } = runtime
  const site = passkeySite(runtime.dashboardUrl())
  if (!site) return problemPage(c, visit.lang, 'notFound')
  const { options, proof } = await askToRegister({ db: visit.db, formKey }, site, visit.signedIn, visit.now)
  setPasskeyProof(c, runtime.dashboardUrl(), proof)
  return c.json(options)
}

const account = '/dashboard/account'

async function add({ runtime }: AccessDeps, c: Ctx, visit: Visit) {
  const { formKey } = runtime
  const site = passkeySite(runtime.dashboardUrl())
  if (!site) return problemPage(c, visit.lang, 'notFound')
  const answer = {
    credential: visit.field('credential'),
    proof: takePasskeyProof(c, runtime.dashboardUrl()),
    name: cleanText(visit.field('name'), maxPasskeyName) || 'Passkey',
  }
  const result = await registerPasskey({ db: visit.db, formKey }, site, visit.signedIn, answer, visit)
  if (result === 'done') return c.redirect(`${account}?done=passkey`, 303)
  return c.redirect(`${account}?passkey=${result}`, 303)
}

async function remove(_deps: AccessDeps, c: Ctx, visit: Visit) {
  const isRemoved = await removeOwnPasskey(visit, visit.signedIn, visit.field('passkey'), visit)
  return c.redirect(`${account}?done=${isRemoved ? 'passkeyRemoved' : 'changed'}`, 303)
}
