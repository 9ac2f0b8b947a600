import { hmacWith, notificationKey, notificationSignature, utf8 } from '../signature.ts'
import { isUnreachable, socketCodeOf } from './explain.ts'

// One try of a notification, signed and sent as the gateway does it.
export type Delivery = { id: string; sequence: number; attempt: number; body: string; sentAt?: Date }

export type HandlerAnswer = {
  http?: number // undefined if there was no answer
  problem?: string // why not
  isUnreachable?: boolean // nothing listens at the address
  ms: number
}

export const gatewayTimeoutMs = 10_000 // as long as the gateway waits for an answer

export async function deliveryHeaders(
  delivery: Delivery,
  ipnSecret: string,
): Promise<Record<string, string>> {
  const { id, sequence, attempt, body, sentAt = new Date() } = delivery
  const timestamp = String(Math.floor(sentAt.getTime() / 1000))
  return {
    'user-agent': 'Tollgate',
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': await notificationSignature(
      hmacWith(notificationKey(ipnSecret)),
      id,
      timestamp,
      utf8(body),
    ),
    'webhook-attempt': String(attempt),
    'webhook-sequence': String(sequence),
  }
}

// Never throws. A redirect is not followed, as by the gateway.
export async function post(
  url: string,
  body: string,
  headers: Record<string, string>,
): Promise<HandlerAnswer> {
  const started = performance.now()
  const elapsed = () => Math.round(performance.now() - started)
  try {
    const signal = AbortSignal.timeout(gatewayTimeoutMs)
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal })
    await response.arrayBuffer()
    return { http: response.status, ms: elapsed() }
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError')
      return { problem: `no answer within ${gatewayTimeoutMs / 1000} s`, ms: elapsed() }
    return {
      problem: textOf(socketCodeOf(error), error),
      isUnreachable: isUnreachable(error),
      ms: elapsed(),
    }
  }
}

export const deliver = async (url: string, delivery: Delivery, ipnSecret: string): Promise<HandlerAnswer> =>
  post(url, delivery.body, await deliveryHeaders(delivery, ipnSecret))

function textOf(code: string, error: unknown): string {
  if (code === 'ECONNREFUSED') return 'connection refused'
  if (code === 'ENOTFOUND') return 'unknown host'
  return code === 'ECONNRESET' || code === 'UND_ERR_SOCKET'
    ? 'connection closed without an answer'
    : code || String(error)
}
