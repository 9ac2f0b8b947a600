import { randomBelow } from '../../support/random.ts'
import type { Said, Trouble } from '../frame.ts'
import { knock } from '../callback.ts'

// What shall become of an order.
export type Story = {
  submit?: Trouble | Said // in place of the empty 202
  isTaken?: boolean // default true; false: there is no such order
  isUsedUp?: boolean // default true; false: a refused reference may be sent again
  delayMs?: number // of the answer to the order
  first?: string // the status until it ends: PENDING, CREATED
  ends?: Ending // by itself
  afterReads?: number // so many are told the first status before; usual 0
  hiddenReads?: number // so many are told 404 before
  told?: Record<string, unknown> // other than the truth: another amount, another order
  callbacks?: readonly Callback[] // usual: one at the end
}
export type Ending = { status: string; reason?: unknown }
export type Callback = {
  at: 'submit' | 'end' // at submit: before the order is answered
  times?: number
  method?: 'POST' | 'PUT'
  body?: Record<string, unknown> // other than the truth
}

export type Sent = {
  amount: string
  currency: string
  externalId: string
  payer: { partyIdType: string; partyId: string }
  payerMessage: string
  payeeNote: string
}
export type Charge = {
  key: string
  sent: Sent
  callback_url: string | undefined
  deliverTo: string | undefined
  story: Story
  reads: number
  status: string
  reason?: unknown
  financialTransactionId?: string
}

export const isEnded = ({ status }: Charge) => status === 'SUCCESSFUL' || status === 'FAILED'

export const newCharge = (
  key: string,
  sent: Sent,
  callback_url: string | undefined,
  deliverTo: string | undefined,
  story: Story,
): Charge => ({
  key,
  sent,
  callback_url,
  deliverTo,
  story,
  reads: 0,
  status: story.first ?? 'PENDING',
})

// Once only: what has ended stays so.
export async function endCharge(charge: Charge, { status, reason }: Ending): Promise<boolean> {
  if (isEnded(charge)) return false
  charge.status = status
  charge.reason = reason
  if (status === 'SUCCESSFUL') charge.financialTransactionId = String(1e8 + randomBelow(9e8))
  await callBack(charge, 'end')
  return true
}

// As MTN writes it, to a question and in a callback: what is not known yet stands nowhere.
export const objectOf = ({ sent, status, reason, financialTransactionId, story }: Charge) => ({
  ...(financialTransactionId && { financialTransactionId }),
  ...sent,
  status,
  ...(reason !== undefined && { reason }),
  ...story.told,
})

export async function callBack(charge: Charge, at: Callback['at']): Promise<void> {
  const callbacks: readonly Callback[] = charge.story.callbacks ?? [{ at: 'end' }]
  for (const callback of callbacks) if (callback.at === at) await sendCallback(charge, callback)
}

// `deliverTo` is the origin behind a TLS proxy: the gateway's public address is https, and it listens on http.
export async function sendCallback(charge: Charge, { times = 1, method, body }: Omit<Callback, 'at'>) {
  const headers = { 'content-type': 'application/json; charset=utf-8', 'user-agent': 'LWAC Http Client 1.0' }
  const text = JSON.stringify({ ...objectOf(charge), ...body })
  const heard: number[] = []
  if (!charge.callback_url) return heard
  const url = behindProxy(charge.callback_url, charge.deliverTo)
  for (let sent = 0; sent < times; sent++) heard.push(await knock(url, { method, headers, body: text }))
  return heard
}

const behindProxy = (url: string, origin: string | undefined) =>
  origin ? `${origin}${new URL(url).pathname}` : url
