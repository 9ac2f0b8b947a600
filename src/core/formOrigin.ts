import { createHmac, timingSafeEqual } from 'node:crypto'
import { readUrl } from './text.ts'

// The sender of a form. 'unproven': the browser sends no usable header, so the form needs the token of its page.
export type FormSender = 'own_page' | 'other_site' | 'unproven'

type FormHeaders = { site?: string; origin?: string; host?: string }

// Sec-Fetch-Site and Origin are set by the browser, never by a page. Sec-Fetch-Site is checked first: our pages send no
// referrer, so browsers send `Origin: null` with their forms. `none` means that no page sent the form, which proves
// nothing. Proxies may rewrite Host, and a gateway may have several names, so the Origin may match the base address or
// Host.
export function formSender({ site, origin = 'null', host = '' }: FormHeaders, baseUrl: string): FormSender {
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return 'other_site'
  if (origin !== 'null' && origin !== '') {
    const sentFrom = hostIn(origin)
    const isOwn = sentFrom !== undefined && [hostIn(baseUrl), hostIn(`http://${host}`)].includes(sentFrom)
    return isOwn ? 'own_page' : 'other_site'
  }
  return site === 'same-origin' ? 'own_page' : 'unproven'
}

// The host with its port, normalized. The scheme does not count, because TLS may end at a proxy; so the default ports of
// both schemes are left out.
function hostIn(address: string): string | undefined {
  const url = readUrl(address)
  if (!url || !/^https?:$/.test(url.protocol) || url.host === '') return undefined
  return url.host.replace(/:(80|443)$/, '')
}

export const formTokenField = 'form_token'

// Proves that a form comes from its own page: only a client that can read the page has the token. `page` identifies the
// page, such as ['checkout', tx_token].
export const formTokenOf = (key: Buffer, page: readonly string[]) =>
  createHmac('sha256', key).update(JSON.stringify(page)).digest('base64url')

export function isFormToken(expected: string, sent: unknown): boolean {
  if (typeof sent !== 'string') return false
  const [a, b] = [Buffer.from(expected), Buffer.from(sent)]
  return a.length === b.length && timingSafeEqual(a, b)
}
