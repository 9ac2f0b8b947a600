import { brotliCompressSync, gzipSync } from 'node:zlib'
import { cacheControlOf, digestOf, minifyCss, readStyles } from '../../documents/documents.ts'
import { type Ctx, plainResponse } from '../../http/context.ts'

// The frame, then the parts that only some areas need.
const files = [
  'frame/dashboard.css',
  'money/money.css',
  'overview/overview.css',
  'signIn/signIn.css',
  'payments/payments.css',
  'settings/settings.css',
  'take/take.css',
  'audit/audit.css',
  'live/operator.css',
]

// Read and compressed when the module is loaded, because a first view has at most 30 kB.
const plain = Buffer.from(minifyCss(readStyles(...files.map(file => new URL(`../${file}`, import.meta.url)))))
const encoded = { br: brotliCompressSync(plain), gzip: gzipSync(plain, { level: 9 }) }
const digest = digestOf(plain)

// The address has the version, so that browsers need not ask again before the next release.
export const dashboardStyles = `/dashboard/dashboard.css?v=${digest}`

export function sendStyles(c: Ctx): Response {
  const accepted = c.req.header('accept-encoding') ?? ''
  const encoding = (['br', 'gzip'] as const).find(one => new RegExp(`\\b${one}\\b`).test(accepted))
  return plainResponse(c, 200, new Uint8Array(encoding ? encoded[encoding] : plain), {
    'content-type': 'text/css; charset=utf-8',
    'cache-control': cacheControlOf(new URL(c.req.url).search.slice(1), digest),
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    vary: 'accept-encoding',
    ...(encoding && { 'content-encoding': encoding }),
  })
}
