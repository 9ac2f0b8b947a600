import { randomBelow } from '../../support/random.ts'
import type { SimulatorReply, Trouble } from '../simulator.ts'
import { postCallback } from '../callback.ts'

// The outcome of an order.
export type Story = {
  submit?: Trouble | SimulatorReply // instead of an empty 202
  isTaken?: boolean // default true; false: the order is not created
  isUsedUp?: boolean // default true; false: a refused reference may be sent again
  delayMs?: number // of the reply to the order
  first?: string // the status until it ends: PENDING, CREATED
  ends?: Ending // by itself
  afterReads?: number // reads that still return the first status; default 0
  hiddenReads?: number // reads that return 404 before that
  told?: Record<string, unknown> // wrong fields of the reply: another amount, another order
  callbacks?: readonly Callback[] // default: one at the end
}
export type Ending = { status: string; reason?: unknown }
export type Callback = {
  at: 'submit' | 'end' // at submit: before the order is answered
  times?: number
  method?: 'POST' | 'PUT'
  body?: Record<string, unknown> // wrong fields
}

export type Sent = {
  amount: string
  currency: string
  externalId: string
  payer: Party
  payerMessage: string
  payeeNote: string
}
export type Party = { partyIdType: string; partyId: string }

// A refund has a payee, the payer of its charge.
export type SentRefund = Omit<Sent, 'payer'> & { payee: Party }

export type Charge<S extends Sent | SentRefund = Sent> = {
  key: string
  sent: S
  callback_url: string | undefined
  deliverTo: string | undefined
  story: Story
  reads: number
  status: string
  reason?: unknown
  financialTransactionId?: string
}

type Any = Charge<Sent | SentRefund>

export const isEnded = ({ status }: Any) => status === 'SUCCESSFUL' || status === 'FAILED'

export const newCharge = <S extends Sent | SentRefund>(
  key: string,
  sent: S,
  callback_url: string | undefined,
  deliverTo: string | undefined,
  story: Story,
): Charge<S> => ({
  key,
  sent,
  callback_url,
  deliverTo,
  story,
  reads: 0,
  status: story.first ?? 'PENDING',
})

// The first ending is final.
export async function endCharge(charge: Any, { status, reason }: Ending): Promise<boolean> {
  if (isEnded(charge)) return false
  charge.status = status
  charge.reason = reason
  if (status === 'SUCCESSFUL') charge.financialTransactionId = String(1e8 + randomBelow(9e8))
  await callBack(charge, 'end')
  return true
}

// The charge as MTN returns it and sends it in a callback: unknown fields are left out.
export const objectOf = ({ sent, status, reason, financialTransactionId, story }: Any) => ({
  ...(financialTransactionId && { financialTransactionId }),
  ...sent,
  status,
  ...(reason !== undefined && { reason }),
  ...story.told,
})

export async function callBack(charge: Any, at: Callback['at']): Promise<void> {
  const callbacks: readonly Callback[] = charge.story.callbacks ?? [{ at: 'end' }]
  for (const callback of callbacks) if (callback.at === at) await sendCallback(charge, callback)
}

// `deliverTo` is the origin behind a TLS proxy: the gateway's public address is https, but it listens on http.
export async function sendCallback(charge: Any, { times = 1, method, body }: Omit<Callback, 'at'>) {
  const headers = { 'content-type': 'application/json; charset=utf-8', 'user-agent': 'LWAC Http Client 1.0' }
  const text = JSON.stringify({ ...objectOf(charge), ...body })
  const heard: number[] = []
  if (!charge.callback_url) return heard
  const url = behindProxy(charge.callback_url, charge.deliverTo)
  for (let sent = 0; sent < times; sent++)
    heard.push(await postCallback(url, { method, headers, body: text }))
  return heard
}

const behindProxy = (url: string, origin: string | undefined) =>
  origin ? `${origin}${new URL(url).pathname}` : url
