import { randomBytes } from 'node:crypto'
import type { Context } from 'hono'
import { getCookie } from 'hono/cookie'
import { serialize } from 'hono/utils/cookie'
import { preferredLang } from '../../core/languages/languages.ts'
import { isSecureAddress } from '../../core/operator/operatorKeys.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { addressOf } from '../http/apiRequest.ts'
import type { Ctx, Env } from '../http/context.ts'
import { newFormToken } from './formToken.ts'
import { problemPage, refusalPage } from './frame/problems.tsx'
import { readDashboardForm } from './readForm.ts'
import type { PublicRoute } from './route.ts'

const deadlineMs = 10_000 // of the statements of one request

type PublicGuardDeps = {
  runtime: Pick<Runtime, 'db' | 'clock' | 'limits' | 'bodies' | 'formKey' | 'dashboardUrl'>
  trustedProxies: number
}

const formIdPattern = /^[\w-]{22}$/
const formCookieName = (baseUrl: string) =>
  isSecureAddress(baseUrl) ? '__Host-tollgate_form' : 'tollgate_form'

// In front of the pages without a session. The form token belongs to a cookie of its own, so that another site cannot sign a
// browser in to an account of its choice. That cookie opens nothing.
export const publicGuard = (deps: PublicGuardDeps, route: PublicRoute) => async (context: Context<Env>) => {
  const c = context as Ctx
  const lang = preferredLang(c.req.header('accept-language'))
  try {
    const { runtime, trustedProxies } = deps
    const address = addressOf(c.env.incoming, trustedProxies)
    runtime.limits.visit(address)
    const baseUrl = runtime.dashboardUrl()
    const given = getCookie(c, formCookieName(baseUrl)) ?? ''
    const formId = formIdPattern.test(given) ? given : randomBytes(16).toString('base64url')
    const session = `public ${formId}`
    const form =
      route.method === 'post' ? await readDashboardForm(c, runtime, { address, session }) : { fields: {} }
    if (!form) return problemPage(c, lang, 'foreignForm')
    return await route.handle(c, {
      lang,
      now: runtime.clock(),
      db: runtime.db.withQuota('sign_in').withDeadline(performance.now() + deadlineMs),
      address,
      agent: c.req.header('user-agent') ?? '',
      formToken: newFormToken(runtime.formKey, session),
      formCookie: formCookie(baseUrl, formId),
      field: name => (form.fields as Readonly<Record<string, string>>)[name] ?? '',
    })
  } catch (error) {
    return refusalPage(c, lang, error)
  }
}

const formCookie = (baseUrl: string, formId: string) =>
  serialize(formCookieName(baseUrl), formId, {
    path: '/',
    httpOnly: true,
    sameSite: 'Lax',
    secure: isSecureAddress(baseUrl),
  })
