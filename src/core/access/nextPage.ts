import { isPlainText, readUrl } from '../text.ts'

const maxNext = 1000
const own = 'http://own.invalid'

// Where to go after signing in: only a page of the dashboard. A browser reads `//host`, `/\host` and addresses with tabs as
// another site, so the parsed address is compared and written.
export function nextPage(asked: string | undefined): string {
  const fallback = '/dashboard'
  if (!asked || asked.length > maxNext || !isPlainText(asked) || asked.includes('\\')) return fallback
  if (!asked.startsWith('/dashboard')) return fallback
  const url = readUrl(`${own}${asked}`)
  if (url?.origin !== own || url.username || !/^\/dashboard(\/|$)/.test(url.pathname)) return fallback
  return /\/\//.test(url.pathname) ? fallback : `${url.pathname}${url.search}`
}
