import type { IncomingMessage } from 'node:http'
import { chosenLang, preferredLang } from '../core/languages/languages.ts'
import { readUrl } from '../core/text.ts'
import type { Observe } from '../observe/requests.ts'
import { newRequestId } from '../runtime/ids.ts'
import { type ApiAnswer, htmlType, sendAnswer, splitUrl, wantsPage } from './http/apiRequest.ts'
import { plainAnswer } from './http/errors.ts'
import { TroublePage } from './pages/customerPage.tsx'
import { customerPageHeaders } from './pages/sendPage.ts'
import type { Answerer } from './server/server.ts'

// Segments of characters that need no escaping; none is empty, `.` or `..`. A trailing slash is allowed.
const plainPath = /^\/(?:(?!\.\.?(?:\/|$))[\w.~!$&'()*+,;=:@-]+(?:\/|$))*$/
const plainHost = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i

// Each address is served in exactly one spelling. So a proxy that blocks an address has blocked all of it. This check
// is in front of the pages, whose router decodes and normalizes the path and uses the Host header. The API and the
// files compare the path as it was sent.
export const refuseOddRequests =
  (observe: Observe): Answerer =>
  (incoming, outgoing) => {
    const { url = '', method = '', headers } = incoming
    const [path] = url.split('?', 1)
    const why = !plainPath.test(path as string) ? oddPath : isPlainHost(headers.host) ? undefined : oddHost
    if (!why) return false
    const started = performance.now()
    const requestId = newRequestId()
    const answer = answerTo(incoming, why, requestId)
    sendAnswer(outgoing, answer, requestId)
    observe({ requestId, method, route: 'other', http: answer.http, code: answer.code, started })
    return true
  }

const oddPath =
  'The path of this address is not written plainly: no escapes, backslashes, empty or dotted parts, and no host in it.'
const oddHost = 'The Host header is not a plain name or address, with or without a port.'

function isPlainHost(host: string | undefined): boolean {
  if (!host) return true
  return (
    plainHost.test(host) && readUrl(`http://${host}`)?.hostname === host.replace(/:\d+$/, '').toLowerCase()
  )
}

// A customer's link may have been damaged. A browser gets a page, not JSON.
function answerTo({ url = '', headers }: IncomingMessage, why: string, requestId: string): ApiAnswer {
  const answer = plainAnswer(400, 'GW-012', why, requestId)
  if (!wantsPage(headers.accept)) return answer
  const asked = new URLSearchParams(splitUrl(url)[1]).get('lang')
  const lang = chosenLang(asked ?? undefined) ?? preferredLang(headers['accept-language'])
  const page = url.startsWith('/checkout/') ? (
    <TroublePage kind="no_payment" lang={lang} />
  ) : (
    <TroublePage kind="nothing_here" lang={lang} />
  )
  return { ...answer, type: htmlType, body: String(page), headers: customerPageHeaders }
}
