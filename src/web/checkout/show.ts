import { gzipSync } from 'node:zlib'
import type { Child } from 'hono/jsx'
import { htmlType } from '../http/apiRequest.ts'
import type { Ctx } from '../http/context.ts'
import { headersFramedBy } from './page/pageHeaders.ts'

// Where the payment is known, its merchant says who may frame it.
export const headersOf = (c: Ctx) => headersFramedBy(c.get('frameOrigins'))

// Answers with a page. Pages are a few kilobytes, and every one of them counts on a bad network. What a stranger could
// put into a page never stands beside a secret of somebody else: the length of an answer gives nothing away.
export function show(c: Ctx, page: Child, http = 200, more: Record<string, string> = {}) {
  const html = String(page)
  const headers = { ...headersOf(c), 'content-type': htmlType, vary: 'accept-encoding', ...more }
  if (!c.req.header('accept-encoding')?.includes('gzip')) return c.body(html, http as 200, headers)
  return c.body(new Uint8Array(gzipSync(html)), http as 200, { ...headers, 'content-encoding': 'gzip' })
}
