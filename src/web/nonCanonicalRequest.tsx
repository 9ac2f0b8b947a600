import type { IncomingMessage } from 'node:http'
import { chosenLang, preferredLang } from '../core/languages/languages.ts'
import { readUrl } from '../core/text.ts'
import type { Observe } from '../observe/requests.ts'
import { newRequestId } from '../runtime/ids.ts'
import { type ApiAnswer, htmlType, sendAnswer, splitUrl, acceptsHtml } from './http/apiRequest.ts'
import { plainAnswer, type ErrorContext } from './http/errors.ts'
import { TroublePage } from './pages/customerPage.tsx'
import { customerPageHeaders } from './pages/sendPage.ts'
import type { Answerer } from './server/server.ts'

// Segments of characters that need no escaping; none is empty, `.` or `..`. A trailing slash is allowed.
const plainPath = /^\/(?:(?!\.\.?(?:\/|$))[\w.~!$&'()*+,;=:@-]+(?:\/|$))*$/
const plainHost = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i

// Each address is served in exactly one spelling, so that a proxy that blocks an address blocks it completely. This check
// runs before the pages, because their router decodes and normalizes the path and uses the Host header. The API and the
// files compare the path as it was sent.
export const refuseNonCanonicalRequests =
  (observe: Observe, baseUrl: () => string): Answerer =>
  (incoming, outgoing) => {
    const { url = '', method = '', headers } = incoming
    const [path] = url.split('?', 1)
    const fault = !plainPath.test(path as string)
      ? pathFault
      : isPlainHost(headers.host)
        ? undefined
        : hostFault
    if (!fault) return false
    const started = performance.now()
    const requestId = newRequestId()
    const answer = answerTo(incoming, fault, { requestId, baseUrl: baseUrl() })
    sendAnswer(outgoing, answer, requestId)
    observe({ requestId, method, route: 'other', http: answer.http, code: answer.code, started })
    return true
  }

const pathFault =
  'The path of this address is not written plainly: no escapes, backslashes, empty or dotted parts, and no host in it.'
const hostFault = 'The Host header is not a plain name or address, with or without a port.'

function isPlainHost(host: string | undefined): boolean {
  if (!host) return true
  return (
    plainHost.test(host) && readUrl(`http://${host}`)?.hostname === host.replace(/:\d+$/, '').toLowerCase()
  )
}

// A customer's link may have been damaged. A browser gets a page, not JSON.
function answerTo({ url = '', headers }: IncomingMessage, fault: string, request: ErrorContext): ApiAnswer {
  const answer = plainAnswer(400, 'GW-012', fault, request)
  if (!acceptsHtml(headers.accept)) return answer
  const langInUrl = new URLSearchParams(splitUrl(url)[1]).get('lang') ?? undefined
  const lang = chosenLang(langInUrl) ?? preferredLang(headers['accept-language'])
  const kind = url.startsWith('/checkout/') ? 'no_payment' : 'nothing_here'
  const page = String(<TroublePage kind={kind} lang={lang} />)
  return { ...answer, type: htmlType, body: page, headers: customerPageHeaders }
}
