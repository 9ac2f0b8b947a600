import { cleanId, cleanText } from '../text.ts'
import type { RefundOrder, SanitizedRefundReply } from './refundOrder.ts'
import {
  isReplyAmount,
  isReplyTime,
  maskedReplyText,
  presentFields,
  type RawReply,
  replyCode,
  replyPause,
  replyRefusal,
} from './replyFields.ts'

const maxName = 60

type RequestedRefund = Pick<RefundOrder, 'idempotency_key' | 'refund_reference' | 'amount' | 'currency'>

// Makes a known and storable reply of whatever a provider module returned about a refund. Everything that is not a valid
// reply becomes `unknown`, and a success for anything but this refund becomes `other_refund`.
export function sanitizeRefundReply(value: unknown, requested: RequestedRefund): SanitizedRefundReply {
  if (typeof value !== 'object' || value === null)
    return { state: 'unknown', words: `The provider answered ${cleanText(value, 40)}.` }
  const raw = value as RawReply
  const words = maskedReplyText(raw.words)
  if (raw.state === 'succeeded') return succeeded(raw, requested)
  if (raw.state === 'pending') return { state: 'pending', ...factsOf(raw) }
  if (raw.state === 'needs_action')
    return { state: 'needs_action', words: words ?? noInstruction, ...factsOf(raw) }
  if (raw.state === 'failed')
    return {
      state: 'failed',
      words: words ?? noReason,
      ...(raw.isRefused === true && { isRefused: true }),
      ...factsOf(raw),
    }
  if (raw.state === 'absent') return { state: 'absent' }
  const refusal = presentFields({ provider_code: replyCode(raw), isRefusal: replyRefusal(raw) })
  if (raw.state === 'not_sent') return { state: 'not_sent', words: words ?? '', ...refusal }
  if (raw.state !== 'unknown')
    return { state: 'unknown', words: `The provider answered ${cleanText(raw.state, 40)}.` }
  const acknowledged = raw.acknowledged === true ? true : undefined
  return {
    state: 'unknown',
    words: words ?? '',
    ...presentFields({ acknowledged, restMs: replyPause(raw) }),
    ...refusal,
  }
}

const noInstruction = 'The provider needs something from the operator, and does not say what.'
const noReason = 'The provider gives no reason.'

// A success is never dropped: if it does not match the request, an operator has to compare it with the provider's records.
function succeeded(raw: RawReply, requested: RequestedRefund): SanitizedRefundReply {
  const { refund, amount, currency } = raw
  const isOurs =
    typeof refund === 'string' && [requested.idempotency_key, requested.refund_reference].includes(refund)
  const isAmount = amount === 'not_said' || (isReplyAmount(amount) && amount === requested.amount)
  if (isOurs && isAmount && currency === requested.currency)
    return { state: 'succeeded', refund, amount, currency: requested.currency, ...factsOf(raw) }
  const words = otherRefund(raw, isOurs)
  return { state: 'other_refund', words, ...(isOurs && { acknowledged: true }) }
}

function otherRefund({ refund, amount, currency, provider_ref }: RawReply, isOurs: boolean): string {
  const named =
    typeof refund === 'string' && refund !== '' ? `refund ${cleanText(refund, maxName)}` : 'no refund'
  const reference = provider_ref === undefined ? '' : `, reference ${cleanText(provider_ref, maxName)}`
  const what = `${cleanText(currency, maxName)} ${cleanText(amount, maxName)} in minor units${reference}`
  return isOurs
    ? `The provider reports that it refunded another amount than requested: ${what}.`
    : `We asked about one refund, and the provider reports a success for ${named}: ${what}.`
}

const factsOf = (raw: RawReply) =>
  presentFields({
    provider_ref: cleanId(raw.provider_ref),
    provider_code: replyCode(raw),
    provider_time: isReplyTime(raw.provider_time) ? raw.provider_time : undefined,
  })
