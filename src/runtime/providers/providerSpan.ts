import { SpanKind } from '@opentelemetry/api'
import { inSpan, markFailed } from '../../core/traces.ts'

type ProviderCall = {
  account: string
  payment_method: string
  verb: 'start' | 'ask' | 'refund' | 'ask_refund'
}
type AnyReply = { state: string; acknowledged?: boolean }

// The span of a call to a provider, with the verbs of the metrics. A module may send several HTTP requests for one call.
export const inProviderSpan = <R extends AnyReply>(
  { account, payment_method, verb }: ProviderCall,
  call: () => Promise<R>,
): Promise<R> =>
  inSpan(
    `provider ${verb}`,
    {
      kind: SpanKind.CLIENT,
      attributes: { 'tollgate.account': account, 'tollgate.payment_method': payment_method },
    },
    async span => {
      const reply = await call()
      span.setAttribute('tollgate.reply', reply.state)
      const hasNoAnswer = reply.state === 'not_sent' || (reply.state === 'unknown' && !reply.acknowledged)
      if (hasNoAnswer) markFailed(span, reply.state)
      return reply
    },
  )
