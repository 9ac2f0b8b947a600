import type { IncomingMessage } from 'node:http'
import { ROOT_CONTEXT, type SpanContext, SpanKind } from '@opentelemetry/api'
import { contextOf, inNewSpan, isTraced, linksTo, markFailed, spanContextOf } from '../../core/traces.ts'

type AnsweredRequest = { route: string; http: number; merchant_id?: string; code?: string }
type TracedRequest = {
  incoming: IncomingMessage
  method: string
  requestId: string
  continues?: SpanContext // the trace of the payment that the request belongs to
}

// The span of a request, by the semantic conventions of HTTP. It has the route and never the address. A trace context that
// the client sent is untrusted: it decides neither the trace nor whether it is sampled, and is recorded as a link.
export function inRequestSpan<A extends AnsweredRequest>(
  { incoming, method, requestId, continues }: TracedRequest,
  answer: () => Promise<A>,
): Promise<A> {
  if (!isTraced()) return answer()
  const sent = incoming.headers.traceparent
  const options = {
    kind: SpanKind.SERVER,
    attributes: { 'http.request.method': method, 'tollgate.request_id': requestId },
    links: linksTo(typeof sent === 'string' ? spanContextOf(sent) : undefined),
  }
  const parent = continues ? contextOf(continues) : ROOT_CONTEXT
  return inNewSpan(method, options, parent, async span => {
    const answered = await answer()
    const { route, http, merchant_id, code } = answered
    span.updateName(`${method} ${route}`)
    span.setAttributes({ 'http.route': route, 'http.response.status_code': http })
    if (merchant_id !== undefined) span.setAttribute('tollgate.merchant_id', merchant_id)
    if (code !== undefined) span.setAttribute('tollgate.code', code)
    if (http >= 500) markFailed(span, String(http))
    return answered
  })
}
