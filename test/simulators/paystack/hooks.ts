import { createHmac } from 'node:crypto'
import { postCallback } from '../callback.ts'
import type { HookKind } from './stories.ts'

export type HookData = Record<string, unknown>
export type HookSettings = { url?: string; secretKey: string; retryMs: number }

const tries = 4

// The signature covers the exact bytes. A webhook is repeated if the reply is not 200.
export async function sendHook(
  { url, secretKey, retryMs }: HookSettings,
  event: string,
  data: HookData,
  { kind = 'good', later }: { kind?: HookKind; later(work: () => Promise<unknown>, afterMs: number): void },
): Promise<number> {
  if (!url) return 0
  const { body, signed } = wordsOf(event, data, kind)
  const signature = createHmac('sha512', kind === 'forged' ? 'sk_test_somebody_elses' : secretKey)
    .update(signed)
    .digest('hex')
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Paystack/2.0',
    ...(kind !== 'unsigned' && { 'x-paystack-signature': signature }),
  }
  const send = async (left: number): Promise<number> => {
    const http = await postCallback(url, { headers, body })
    if (http !== 200 && left > 1 && kind === 'good') later(() => send(left - 1), retryMs)
    return http
  }
  return send(tries)
}

// `signed` is the text that the signature covers; an altered webhook sends another one.
function wordsOf(event: string, data: HookData, kind: HookKind) {
  const told = JSON.stringify({ event, data: { ...data, ...lies[kind] } })
  return kind === 'altered'
    ? { body: told.replace('success', 'Success'), signed: told }
    : { body: told, signed: told }
}

const lies: Partial<Record<HookKind, HookData>> = {
  other_order: { reference: 'another0order0that0nobody0has0sent00' },
  wrong_amount: { amount: 1 },
}
