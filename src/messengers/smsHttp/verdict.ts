import type { Sent } from '../../core/message/messenger.ts'
import { tidy } from '../common/warnOnChange.ts'
import type { HttpAnswer } from './call.ts'
import type { SmsHttpSettings } from './settings.ts'

const maxAfterMs = 3_600_000

export type Verdict = { sent: Sent; fault?: string } // a fault is the operator's to mend

const busy = new Set([408, 409, 425, 429])
const operators = new Set([401, 402, 403, 404, 405, 407]) // the key, the credit, the address

export function verdictOf(
  answer: HttpAnswer,
  { ok, id }: Pick<SmsHttpSettings, 'ok' | 'id'>,
  now: number,
): Verdict {
  const { http, text, retryAfter } = answer
  const words = tidy(`HTTP ${http} ${text}`)
  const later: Sent = { state: 'later', words, afterMs: afterMs(retryAfter, now) }
  if (http >= 200 && http < 300) {
    if (ok && !ok.test(text))
      return { sent: later, fault: `HTTP ${http}, and the answer does not match SMS_HTTP_OK` }
    return { sent: { state: 'sent', provider_ref: id?.exec(text)?.[1] || undefined } }
  }
  if (busy.has(http)) return { sent: later }
  if (http >= 400 && http < 500 && !operators.has(http)) return { sent: { state: 'never', words } }
  return { sent: later, fault: `HTTP ${http}` }
}

function afterMs(text: string | null, now: number): number | undefined {
  if (!text) return undefined
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return ms > 0 ? Math.min(ms, maxAfterMs) : undefined
}
