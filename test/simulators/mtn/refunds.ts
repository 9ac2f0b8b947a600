import { setTimeout as sleep } from 'node:timers/promises'
import { type Rule, rulesOf } from '../rules.ts'
import type { SimulatorRequest, SimulatorReply, Trouble } from '../simulator.ts'
import {
  type Callback,
  type Charge,
  callBack,
  type Ending,
  endCharge,
  isEnded,
  newCharge,
  objectOf,
  type SentRefund,
  type Story,
  sendCallback,
} from './charges.ts'

type Disbursements = {
  chargeOf(key: string): Charge | undefined
  currency: string
  isSandbox: boolean
  callbacksTo(): string | undefined
  notFound(): SimulatorReply
}
type Refund = Charge<SentRefund> & { charge: string }
type RefundRequest = Omit<SentRefund, 'payee'> & { referenceIdToRefund: string }

const path = '/disbursement/v1_0/refund'

// A refund without a rule is PENDING at the first read, then SUCCESSFUL.
const usual: Story = { ends: { status: 'SUCCESSFUL' }, afterReads: 1 }

// MTN Disbursements, as far as refunds of requests to pay need it. The float pays the refunds. What MTN answers to a refund of
// more than the charge, or of a charge that is not paid, is not documented.
export function openDisbursements({ chargeOf, currency, isSandbox, callbacksTo, notFound }: Disbursements) {
  const rules = rulesOf<Story>()
  const used = new Set<string>()
  const refunds = new Map<string, Refund>()
  let float = Infinity // in major units

  function answer(asked: SimulatorRequest): Promise<SimulatorReply | Trouble> | SimulatorReply {
    if (asked.method === 'POST' && asked.path === path) return submit(asked)
    if (asked.method === 'GET' && asked.path.startsWith(`${path}/`)) return statusReply(asked.path)
    return { status: 404, body: { statusCode: 404, message: 'Resource not found' } }
  }

  async function submit({ headers, text }: SimulatorRequest): Promise<SimulatorReply | Trouble> {
    const key = String(headers['x-reference-id']).toLowerCase()
    if (!uuid4.test(key)) return { status: 400 }
    if (used.has(key)) return code(409, 'RESOURCE_ALREADY_EXIST')
    const { referenceIdToRefund = '', ...sent } = readRequest(text)
    const callback_url = headers['x-callback-url'] as string | undefined
    if (!isWellFormed(sent) || (!isSandbox && callback_url?.startsWith('http:'))) return { status: 400 }
    const charge = chargeOf(referenceIdToRefund)
    if (charge?.status !== 'SUCCESSFUL') return code(404, 'RESOURCE_NOT_FOUND')
    used.add(key)
    if (sent.currency !== currency) return code(500, 'INVALID_CURRENCY')
    if (Number(sent.amount) > leftOf(charge) + 1e-9) return code(400, 'VALIDATION_ERROR')
    const number = charge.sent.payer.partyId
    const story = rules.storyOf({ number, amount: sent.amount, key }) ?? usual
    if (story.isUsedUp === false) used.delete(key)
    const refund = newCharge(key, { ...sent, payee: charge.sent.payer }, callback_url, callbacksTo(), story)
    return take({ ...refund, charge: charge.key })
  }

  const leftOf = ({ key, sent }: Charge) =>
    [...refunds.values()]
      .filter(one => one.charge === key && one.status !== 'FAILED')
      .reduce((left, one) => left - Number(one.sent.amount), Number(sent.amount))

  async function take(refund: Refund): Promise<SimulatorReply | Trouble> {
    const {
      submit: reply = { status: 202 },
      isTaken = true,
      delayMs = 0,
      ends,
      afterReads = 0,
    } = refund.story
    if (isTaken) {
      refunds.set(refund.key, refund)
      await callBack(refund, 'submit')
      if (ends && afterReads === 0) await endRefund(refund, ends)
    }
    await sleep(delayMs)
    return reply
  }

  // The float may be too low.
  async function endRefund(refund: Refund, ending: Ending): Promise<boolean> {
    if (isEnded(refund)) return false
    const amount = Number(refund.sent.amount)
    const isPayable = ending.status !== 'SUCCESSFUL' || amount <= float
    if (ending.status === 'SUCCESSFUL' && isPayable) float -= amount
    return endCharge(refund, isPayable ? ending : { status: 'FAILED', reason: 'NOT_ENOUGH_FUNDS' })
  }

  async function statusReply(asked: string): Promise<SimulatorReply> {
    const refund = refunds.get(decodeURIComponent(asked.slice(path.length + 1)).toLowerCase())
    if (!refund) return notFound()
    const { hiddenReads = 0, ends, afterReads = 0 } = refund.story
    if (refund.reads++ < hiddenReads) return notFound()
    if (ends && refund.reads - hiddenReads > afterReads) await endRefund(refund, ends)
    return { status: 200, body: objectOf(refund) }
  }

  const controls = {
    refundRule: (rule: Rule<Story>) => rules.add(rule),
    endRefund({ key, ...ending }: Ending & { key: string }) {
      const refund = refunds.get(key.toLowerCase())
      return refund ? endRefund(refund, ending) : false
    },
    callBackRefund({ key, ...callback }: Omit<Callback, 'at'> & { key: string }) {
      const refund = refunds.get(key.toLowerCase())
      return refund ? sendCallback(refund, callback) : []
    },
    float: (amount: number) => void (float = amount),
    refunds: (key: string) => (refunds.has(key.toLowerCase()) ? 1 : 0),
    // All refunds, as an account statement would list them.
    refundBook: () =>
      [...refunds.values()].map(refund => ({ ...refund, isPaid: refund.status === 'SUCCESSFUL' })),
  }
  return { answer, controls }
}

const uuid4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const code = (status: number, word: string): SimulatorReply => ({ status, body: { code: word, message: '' } })

function readRequest(text: string): Partial<RefundRequest> {
  try {
    return (JSON.parse(text) as RefundRequest | null) ?? {}
  } catch {
    return {}
  }
}

const isNote = (note: unknown) => typeof note === 'string' && /^[\w .,-]{0,160}$/.test(note)

const isWellFormed = (sent: Partial<SentRefund>): sent is Omit<SentRefund, 'payee'> =>
  typeof sent.amount === 'string' &&
  /^\d+(\.\d+)?$/.test(sent.amount) &&
  typeof sent.currency === 'string' &&
  typeof sent.externalId === 'string' &&
  isNote(sent.payerMessage) &&
  isNote(sent.payeeNote)
