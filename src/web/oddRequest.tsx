import type { IncomingMessage } from 'node:http'
import { chosenLang, preferredLang } from '../core/languages/languages.ts'
import { readUrl } from '../core/text.ts'
import type { Observe } from '../observe/requests.ts'
import { newRequestId } from '../runtime/ids.ts'
import { pageHeaders } from './checkout/page/pageHeaders.ts'
import { NoPaymentPage, NothingHerePage } from './checkout/page/trouble.tsx'
import { wantsPage } from './http/accepts.ts'
import { type ApiAnswer, htmlType, sendAnswer, splitUrl } from './http/apiRequest.ts'
import { plainAnswer } from './http/errors.ts'
import type { Answerer } from './server/server.ts'

// Segments of the letters that an address has without escapes; none is empty, `.` or `..`. A slash may be at the end.
const plainPath = /^\/(?:(?!\.\.?(?:\/|$))[\w.~!$&'()*+,;=:@-]+(?:\/|$))*$/
const plainHost = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i

// Everything that we publish is written in one way, and is served in that way alone: whoever stands before us and shuts
// an address has shut it. To stand before the pages, which are found by a path that was decoded and straightened, with
// what a Host brought along. The interface and the files are found by the path as it was sent.
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

// A customer's link may have been bent on its way; a customer reads pages, not JSON.
function answerTo({ url = '', headers }: IncomingMessage, why: string, requestId: string): ApiAnswer {
  const answer = plainAnswer(400, 'GW-012', why, requestId)
  if (!wantsPage(headers.accept)) return answer
  const asked = new URLSearchParams(splitUrl(url)[1]).get('lang')
  const lang = chosenLang(asked ?? undefined) ?? preferredLang(headers['accept-language'])
  const page = url.startsWith('/checkout/') ? <NoPaymentPage lang={lang} /> : <NothingHerePage lang={lang} />
  return { ...answer, type: htmlType, body: String(page), headers: pageHeaders }
}
