import type {
  Messenger,
  MessengerCheck,
  MessengerModule,
  MessengerTools,
  OutboundMessage,
  SendResult,
} from '../core/message/messenger.ts'
import { withPath } from '../core/urlTrust.ts'
import { type HttpResult, wasSent } from '../net/connection.ts'
import { createOperatorClient } from '../net/outbound.ts'
import { reach } from '../net/reach.ts'
import { cleanReason, warnOnChange } from './common/warnings.ts'
import { fillTemplate, readSmsHttpSettings, type SmsHttpSettings, valuesOf } from './smsHttp/settings.ts'

const defaultDeadlineMs = 15_000
const maxAfterMs = 3_600_000
const defaultHeaders = { accept: '*/*', 'user-agent': 'Tollgate' }

const temporary = new Set([408, 409, 425, 429])
const operatorFaults = new Set([401, 402, 403, 404, 405, 407]) // the key, the credit or the address is wrong

// SMS by a gateway with an HTTP interface. The settings are templates of its requests. The gateway is called directly,
// never through a proxy.
export default {
  readSettings: readSmsHttpSettings,
  open: openSmsHttp,
  check: checkServer,
} satisfies MessengerModule<SmsHttpSettings>

function openSmsHttp(
  settings: SmsHttpSettings,
  tools: MessengerTools,
  deadlineMs = defaultDeadlineMs,
): Messenger {
  const client = createOperatorClient({})
  const warnings = warnOnChange(tools, 'SMS')
  const now = () => tools.clock?.().getTime() ?? Date.now()

  async function send(message: OutboundMessage): Promise<SendResult> {
    if (!/^\+\d{7,15}$/.test(message.to)) return { state: 'rejected', reason: 'This is not a phone number.' }
    const response = await client.send({ ...requestOf(settings, message), deadlineMs })
    const { result, fault } = readResponse(response, settings, now())
    if (fault) warnings.failed(fault)
    else if (result.state === 'sent') warnings.succeeded()
    return result
  }

  return { medium: 'sms', send, close: client.close }
}

// A request could send an SMS, so none is sent.
async function checkServer({ base }: SmsHttpSettings, deadlineMs: number): Promise<MessengerCheck> {
  const { protocol, hostname, port } = new URL(base)
  const tls = protocol === 'https:'
  const host = hostname.replace(/^\[|\]$/g, '')
  const server = { host, port: Number(port) || (tls ? 443 : 80), tls }
  const { failed } = await reach(server, deadlineMs)
  return {
    server: `${host}:${server.port}`,
    reached: 'can be reached; whether it accepts the key is not tried',
    failed,
  }
}

function requestOf(
  { method, base, path, headers, body, encoding, from }: SmsHttpSettings,
  message: OutboundMessage,
) {
  const values = valuesOf(message, from)
  // Only the id is filled into headers, as an idempotency key.
  const filled = Object.entries(headers).map(([name, value]) => [
    name,
    fillTemplate(value, { id: message.id }, 'form'),
  ])
  return {
    method,
    url: withPath(base, fillTemplate(path, values, 'form')),
    headers: { ...defaultHeaders, ...(Object.fromEntries(filled) as Record<string, string>) },
    body: body && fillTemplate(body, values, encoding),
  }
}

// The status and as much of the body as was received decide: by then the gateway has accepted or refused the SMS, and
// another request could send it twice. Only the operator can fix a fault.
function readResponse(
  response: HttpResult,
  { ok, id }: Pick<SmsHttpSettings, 'ok' | 'id'>,
  now: number,
): { result: SendResult; fault?: string } {
  const { status, body, retry_after } = response
  if (status === null) {
    const reason = cleanReason(noAnswer(response))
    return { result: { state: 'retry', reason }, fault: reason }
  }
  const text = body?.toString() ?? ''
  const reason = cleanReason(`HTTP ${status} ${text}`)
  const retry: SendResult = { state: 'retry', reason, afterMs: afterMs(retry_after, now) }
  if (status >= 200 && status < 300) {
    if (ok && !ok.test(text))
      return { result: retry, fault: `HTTP ${status}, and the answer does not match SMS_HTTP_OK` }
    return { result: { state: 'sent', provider_ref: id?.exec(text)?.[1] || undefined } }
  }
  if (temporary.has(status)) return { result: retry }
  if (status >= 400 && status < 500 && !operatorFaults.has(status))
    return { result: { state: 'rejected', reason } }
  return { result: retry, fault: `HTTP ${status}` }
}

const noAnswer = (result: HttpResult) =>
  wasSent(result) ? `no answer, it may have been sent: ${result.error}` : `not sent: ${result.error}`

function afterMs(text: string | null, now: number): number | undefined {
  if (!text) return undefined
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return ms > 0 ? Math.min(ms, maxAfterMs) : undefined
}
