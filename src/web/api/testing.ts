import { advanceClock, type ClockAnswer } from '../../actions/testing/clock.ts'
import { createTriggers, type Triggered } from '../../actions/testing/trigger.ts'
import { type ApiAnswer, type Exchange, jsonType } from '../http/apiRequest.ts'
import { readFields } from '../http/body.ts'
import { type ApiOptions, checkoutUrl } from './initiate.tsx'

// Makes a test payment end in a chosen way.
export function triggerRoute({ runtime, baseUrl }: ApiOptions) {
  const trigger = createTriggers(runtime)
  return async (exchange: Exchange): Promise<ApiAnswer> => {
    const { incoming, address } = exchange
    const { fields } = await readFields(incoming, { runtime, address })
    exchange.fields = fields
    const triggered = await trigger(fields, address)
    const { merchant_id } = triggered
    return { http: 200, type: jsonType, body: JSON.stringify(triggerBody(triggered, baseUrl())), merchant_id }
  }
}

export const triggerBody = (
  { invoice_id, tx_reference, tx_token, outcome, status, message }: Omit<Triggered, 'merchant_id'>,
  baseUrl: string,
) => ({
  success: true,
  invoice_id,
  tx_reference,
  outcome,
  status,
  checkout_url: checkoutUrl(baseUrl, tx_token),
  message,
})

// Advances the time of a merchant's test payments.
export const clockRoute =
  ({ runtime }: ApiOptions) =>
  async (exchange: Exchange): Promise<ApiAnswer> => {
    const { incoming, address } = exchange
    const { fields } = await readFields(incoming, { runtime, address })
    exchange.fields = fields
    const { merchant_id, ...answer } = await advanceClock(runtime, fields, address)
    return { http: 200, type: jsonType, body: JSON.stringify(clockBody(answer)), merchant_id }
  }

export const clockBody = ({ seconds, moved, in_flight, next }: Omit<ClockAnswer, 'merchant_id'>) => ({
  success: true,
  advanced_seconds: seconds,
  moved,
  in_flight,
  more: next !== undefined,
  ...(next !== undefined && { next }),
  message:
    next === undefined
      ? 'What is due within this time is due now.'
      : 'There are more payments. Send the same request with after set to next.',
})
