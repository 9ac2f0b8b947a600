import { gzipSync } from 'node:zlib'
import type { Child } from '../../core/markup/jsx-runtime.ts'
import { pageHeaders, pagePolicy, privatePageHeaders } from '../../core/markup/page.tsx'
import { htmlType } from '../http/apiRequest.ts'
import { type Ctx, plainResponse } from '../http/context.ts'

const sources = "script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'"

// Trusted types: no script on a customer's page can turn text into markup.
const customerPolicy = (framedBy?: string) =>
  `${pagePolicy(sources, framedBy)}; require-trusted-types-for 'script'; trusted-types 'none'`

const noPermissions = {
  'permissions-policy':
    'accelerometer=(), camera=(), clipboard-read=(), display-capture=(), geolocation=(), gyroscope=(), hid=(), ' +
    'magnetometer=(), microphone=(), midi=(), payment=(), serial=(), usb=(), xr-spatial-tracking=()',
}

export const customerPageHeaders = { ...pageHeaders(customerPolicy()), ...noPermissions }

// The header of a page with a frame of this gateway's own pages.
export const framePolicy = (c: Ctx): Record<string, string> => ({
  'content-security-policy': `${headersOf(c)['content-security-policy'] ?? ''}; frame-src 'self'`,
})

// A page of a payment may be framed by the origins that its merchant has named. X-Frame-Options cannot hold a list of
// origins, so it is left out then.
export function headersOf(c: Ctx): Record<string, string> {
  const origins = c.get('frameOrigins') ?? []
  if (origins.length === 0) return customerPageHeaders
  const policy = customerPolicy(origins.join(' '))
  return { 'content-security-policy': policy, ...privatePageHeaders, ...noPermissions }
}

// For a page of 3 kB, level 3 makes 5 % more bytes than level 6 in two thirds of the time, and a smaller window is
// enough. The result fits into one chunk.
const gzipOptions = { level: 3, windowBits: 14, memLevel: 6, chunkSize: 4096 }

const plain = { 'content-type': htmlType, vary: 'accept-encoding' }
const gzipped = { ...plain, 'content-encoding': 'gzip' }

// Sends a customer's page. Compression leaks no secret by the length of the answer, because no page has both text that
// an attacker can choose and a secret of another person.
export function sendPage(c: Ctx, page: Child, http = 200, more: Record<string, string> = {}) {
  const html = String(page)
  const isGzipped = c.req.header('accept-encoding')?.includes('gzip')
  const body = isGzipped ? gzipSync(html, gzipOptions) : html
  return plainResponse(c, http, body, headersOf(c), isGzipped ? gzipped : plain, more)
}
