import type {
  OutboundMessage,
  Messenger,
  MessengerSettings,
  MessengerTools,
  Sent,
} from '../core/message/messenger.ts'
import { withPath } from '../core/urlTrust.ts'
import { type HttpResult, wasSent } from '../net/connection.ts'
import { createOperatorClient } from '../net/outbound.ts'
import { tidy, warnOnChange } from './common/warnOnChange.ts'
import { fillTemplate, readSettings, type SmsHttpSettings, valuesOf } from './smsHttp/settings.ts'

export { readSettings }

const usualDeadlineMs = 15_000
const maxAfterMs = 3_600_000
const usualHeaders = { accept: '*/*', 'user-agent': 'Tollgate' }

const busy = new Set([408, 409, 425, 429])
const operators = new Set([401, 402, 403, 404, 405, 407]) // the key, the credit, the address

// SMS by a gateway with an HTTP interface. The settings are templates of its requests. The gateway is called directly,
// never through a proxy.
export default function smsHttp(
  settings: MessengerSettings,
  tools: MessengerTools,
  deadlineMs = usualDeadlineMs,
): Messenger | undefined {
  const read = readSettings(settings, tools)
  if (!read) return undefined
  const client = createOperatorClient({})
  const operator = warnOnChange(tools, 'SMS')
  const now = () => tools.clock?.().getTime() ?? Date.now()

  async function send(letter: OutboundMessage): Promise<Sent> {
    if (!/^\+\d{7,15}$/.test(letter.to)) return { state: 'never', words: 'This is not a phone number.' }
    const result = await client.send({ ...requestOf(read as SmsHttpSettings, letter), deadlineMs })
    const { sent, fault } = verdictOf(result, read as SmsHttpSettings, now())
    if (fault) operator.trouble(fault)
    else if (sent.state === 'sent') operator.well()
    return sent
  }

  return { medium: 'sms', send, close: client.close }
}

function requestOf(
  { method, base, path, headers, body, encoding, from }: SmsHttpSettings,
  letter: OutboundMessage,
) {
  const values = valuesOf(letter, from)
  // Only the id is filled into headers, as an idempotency key.
  const filled = Object.entries(headers).map(([name, value]) => [
    name,
    fillTemplate(value, { id: letter.id }, 'form'),
  ])
  return {
    method,
    url: withPath(base, fillTemplate(path, values, 'form')),
    headers: { ...usualHeaders, ...(Object.fromEntries(filled) as Record<string, string>) },
    body: body && fillTemplate(body, values, encoding),
  }
}

type Verdict = { sent: Sent; fault?: string } // only the operator can fix a fault

// An answer is judged by its status and by as much of its body as was received: the gateway has decided by then, and
// another request would send the SMS twice.
function verdictOf(result: HttpResult, { ok, id }: Pick<SmsHttpSettings, 'ok' | 'id'>, now: number): Verdict {
  const { status, body, retry_after } = result
  if (status === null) {
    const words = tidy(noAnswer(result))
    return { sent: { state: 'later', words }, fault: words }
  }
  const text = body?.toString() ?? ''
  const words = tidy(`HTTP ${status} ${text}`)
  const later: Sent = { state: 'later', words, afterMs: afterMs(retry_after, now) }
  if (status >= 200 && status < 300) {
    if (ok && !ok.test(text))
      return { sent: later, fault: `HTTP ${status}, and the answer does not match SMS_HTTP_OK` }
    return { sent: { state: 'sent', provider_ref: id?.exec(text)?.[1] || undefined } }
  }
  if (busy.has(status)) return { sent: later }
  if (status >= 400 && status < 500 && !operators.has(status)) return { sent: { state: 'never', words } }
  return { sent: later, fault: `HTTP ${status}` }
}

const noAnswer = (result: HttpResult) =>
  wasSent(result) ? `no answer, it may have been sent: ${result.words}` : `not sent: ${result.words}`

function afterMs(text: string | null, now: number): number | undefined {
  if (!text) return undefined
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return ms > 0 ? Math.min(ms, maxAfterMs) : undefined
}
