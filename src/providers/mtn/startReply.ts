import type { Reason } from '../../core/provider/reason.ts'
import type { Order } from '../../core/provider/order.ts'
import type { Reply } from '../../core/provider/reply.ts'
import { mtnCodeOf, knownCode } from './reasons.ts'
import { httpWords, type MtnUnknownReply, unclearMtnReply } from './replies.ts'
import { type Answered, readJson } from '../http/providerHttp.ts'

// What MTN's answer to an order means, in this order:
//   202            taken
//   401, 403       MTN refused the caller before it looked at the order: not sent
//   a refusal      see `refusalOf`: a no if MTN then has no such order, and no earlier sending can have arrived
//   409            the reference is in use: the order's status counts
//   anything else  unknown
// A refusal and a 409 are followed by one question, because the order's own status outranks both.
export async function startReply(
  order: Order,
  answered: Answered,
  ask: () => Promise<Reply>, // how the order stands
): Promise<Reply> {
  const { http } = answered
  if (http === 202) return { state: 'pending' }
  if (http === 401 || http === 403) return notSent(answered)
  const refusal = isInUse(answered) ? undefined : refusalOf(answered)
  if (!refusal && !isInUse(answered)) return unclearStart(answered)
  const status = await ask().catch(unasked)
  if (status.state === 'absent')
    return refusal && order.is_first_sending
      ? { state: 'failed', isStartRefused: true, ...refusal }
      : { ...unclearMtnReply(answered), ...facts(order, answered, refusal) }
  if (status.state !== 'unknown') return status
  const words = `${httpWords(answered)}, then ${status.words}`
  return { ...status, words, ...facts(order, answered, refusal) }
}

const unasked = (): MtnUnknownReply => ({ state: 'unknown', words: 'no answer to the question about it' })

type Refusal = { reason: Reason; provider_code: string; unknownCode?: string }

// HTTP 400, a listed code with any HTTP error, and the HTML page of a firewall in front of MTN. Without a code, the HTTP
// status stands for it.
function refusalOf({ http, text }: Answered): Refusal | undefined {
  const code = mtnCodeOf(readJson(text))
  const known = knownCode(code)
  if (code && known && http >= 400 && (known.refusesOrder || http === 400))
    return { reason: known.reason, provider_code: code }
  if (http === 400) return unknownRefusal(code ?? 'HTTP 400')
  if (http === 200 && /^\s*</.test(text)) return unknownRefusal('HTTP 200, an HTML page')
  return undefined
}

const unknownRefusal = (code: string): Refusal => ({
  reason: 'refused',
  provider_code: code,
  unknownCode: code,
})

const isInUse = ({ http, text }: Answered) =>
  http === 409 || mtnCodeOf(readJson(text)) === 'RESOURCE_ALREADY_EXIST'

// Beside `unknown`. A reference in use shows that MTN has the order, unless MTN answered an earlier sending with an error:
// that one may have used the reference up without leaving an order.
function facts(order: Order, answered: Answered, refusal: Refusal | undefined): Partial<MtnUnknownReply> {
  if (refusal)
    return {
      provider_code: refusal.provider_code,
      ...(refusal.unknownCode && { unknownCode: refusal.unknownCode }),
    }
  const hasOrder =
    mtnCodeOf(readJson(answered.text)) === 'RESOURCE_ALREADY_EXIST' && order.provider_code === null
  return hasOrder ? { acknowledged: true } : {}
}

function notSent(answered: Answered): Reply {
  const provider_code = mtnCodeOf(readJson(answered.text))
  return {
    state: 'not_sent',
    words: httpWords(answered),
    isRefusal: true,
    ...(provider_code && { provider_code }),
  }
}

function unclearStart(answered: Answered): Reply {
  const code = mtnCodeOf(readJson(answered.text))
  return {
    ...unclearMtnReply(answered),
    ...(code && { provider_code: code }),
    ...(code && !knownCode(code) && { unknownCode: code }),
  }
}
