import { gzipSync } from 'node:zlib'
import type { Child } from '../../core/markup/jsx-runtime.ts'
import { htmlType } from '../http/apiRequest.ts'
import { type Ctx, plainly } from '../http/context.ts'
import { headersFramedBy } from './page/pageHeaders.ts'

// Where the payment is known, its merchant says who may frame it.
export const headersOf = (c: Ctx) => headersFramedBy(c.get('frameOrigins'))

// Of three kilobytes the third level makes a twentieth more than the sixth, in two thirds of the time, and needs no larger
// window. What comes out fits into one small piece of memory.
const zip = { level: 3, windowBits: 14, memLevel: 6, chunkSize: 4096 }

// Answers with a page. Pages are a few kilobytes, and every one of them counts on a bad network. What a stranger could
// put into a page never stands beside a secret of somebody else: the length of an answer gives nothing away.
export function show(c: Ctx, page: Child, http = 200, more: Record<string, string> = {}) {
  const html = String(page)
  const isZipped = c.req.header('accept-encoding')?.includes('gzip')
  return plainly(
    c,
    http,
    isZipped ? gzipSync(html, zip) : html,
    headersOf(c),
    isZipped ? zipped : unzipped,
    more,
  )
}

const unzipped = { 'content-type': htmlType, vary: 'accept-encoding' }
const zipped = { ...unzipped, 'content-encoding': 'gzip' }
