import { gzipSync } from 'node:zlib'
import type { MiddlewareHandler } from 'hono'
import type { Env } from '../context.ts'

// Pages are a few kilobytes, and every one of them counts on a bad network. What a stranger could put into a page
// never stands beside a secret of somebody else: the length of an answer gives nothing away.
export const zipped: MiddlewareHandler<Env> = async (c, next) => {
  await next()
  const { res } = c
  if (!res.headers.get('content-type')?.startsWith('text/html')) return
  res.headers.append('vary', 'accept-encoding')
  if (!c.req.header('accept-encoding')?.includes('gzip')) return
  const body = gzipSync(await res.arrayBuffer())
  const headers = new Headers(res.headers)
  headers.set('content-encoding', 'gzip')
  headers.delete('content-length')
  c.res = undefined // or the old answer's headers would be put on top of the new one's
  c.res = new Response(new Uint8Array(body), { status: res.status, headers })
}
