import { readUrl } from '../../core/text.ts'
import type { Ctx } from './context.ts'

// Whether a form was sent by a page of ours. Browsers say so by `same-origin`; older ones give the Origin, which is null
// for ours, because our pages tell nobody where they are. What is no browser says neither, and has shown its password.
export function isFromHere(c: Ctx): boolean {
  const site = c.req.header('sec-fetch-site')
  if (site !== undefined) return site === 'same-origin'
  const origin = c.req.header('origin') ?? 'null'
  return origin === 'null' || readUrl(origin)?.host === c.req.header('host')
}
