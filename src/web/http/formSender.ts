import { type FormSender, formSender } from '../../core/formOrigin.ts'
import type { Ctx } from './context.ts'

export const senderOf = (c: Ctx, baseUrl: string): FormSender => {
  const [site, origin, host] = ['sec-fetch-site', 'origin', 'host'].map(name => c.req.header(name))
  return formSender({ site, origin, host }, baseUrl)
}

const browser = /^(mozilla|opera)\//i

// Whether a program sent the operator token, which was checked before. No form makes a browser send a bearer token. A
// browser repeats a Basic password by itself, so Basic counts only from another client, such as curl -u.
export function isOperatorProgram(c: Ctx): boolean {
  const authorization = c.req.header('authorization') ?? ''
  if (/^bearer /i.test(authorization)) return true
  return (
    /^basic /i.test(authorization) &&
    c.req.header('origin') === undefined &&
    c.req.header('sec-fetch-site') === undefined &&
    !browser.test(c.req.header('user-agent') ?? '')
  )
}
