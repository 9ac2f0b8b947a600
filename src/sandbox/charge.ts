import { createHash } from 'node:crypto'
import { formatMoney } from '../core/money.ts'
import type { Charge } from '../store/sandboxCharges.ts'

// The possible outcomes of a charge. Times count from the request or, after a decision, from the decision.
const soonMs = 600 // a customer with the phone at hand
const promptMs = 10_000 // the expiry of an ignored prompt
const personMs = 5 * 60_000 // the expiry of a prompt for a tester
const cardMs = 15 * 60_000 // the expiry of a card page
export const hangMs = 15_000 // longer than the timeout of any client

type Step = { afterMs: number; status: 'SUCCESSFUL' | 'FAILED'; reason?: string }
type Callback = { afterMs: number; stale?: boolean } // a stale one reports the previous state

type ChargeEnding = {
  steps: readonly Step[]
  startError?: 'error' | 'cut' | 'hang' // how the answer fails, although the request was accepted
  pollError?: { untilMs: number; http: 500 | 503; code: string } // until then polls fail
  callbacks?: readonly Callback[] // default: one for each step
  surcharge?: bigint // charged in addition, in minor units
  withdrawnAs?: 'withdrawn_then_paid' // how it ends if it is withdrawn; default: withdrawn
  card?: { responseCode: string; responseMessage: string }
}

const paid = (afterMs: number): Step => ({ afterMs, status: 'SUCCESSFUL' })
const failed = (afterMs: number, reason: string): Step => ({ afterMs, status: 'FAILED', reason })
const cardFailed = (responseCode: string, responseMessage: string): ChargeEnding => ({
  steps: [failed(0, 'CARD_REFUSED')],
  card: { responseCode, responseMessage },
})
const cardApproved = { responseCode: '00', responseMessage: 'Approved' }

const table = {
  // wallets
  approved: { steps: [paid(soonMs)] },
  no_funds: { steps: [failed(soonMs, 'NOT_ENOUGH_FUNDS')] },
  declined: { steps: [failed(soonMs, 'APPROVAL_REJECTED')] },
  wrong_voucher: { steps: [failed(soonMs, 'WRONG_VOUCHER')] },
  no_answer: { steps: [failed(promptMs, 'EXPIRED')] },
  error_then_paid: { startError: 'error', steps: [paid(2000)], callbacks: [] },
  no_callback: { steps: [paid(20_000)], callbacks: [] },
  failed_then_paid: { steps: [failed(1000, 'INTERNAL_PROCESSING_ERROR'), paid(16_000)] },
  told_often: {
    steps: [paid(soonMs)],
    callbacks: [
      ...[600, 700, 800, 900].map(afterMs => ({ afterMs })),
      { afterMs: 1000, stale: true }, // the first state, delivered late
    ],
  },
  other_amount: { steps: [paid(soonMs)], surcharge: 100n },
  refused: { steps: [failed(soonMs, 'INTERNAL_PROCESSING_ERROR')] },
  approved_late: { steps: [failed(personMs, 'EXPIRED')], withdrawnAs: 'withdrawn_then_paid' },
  waits_for_person: { steps: [failed(personMs, 'EXPIRED')] },
  // totals
  timeout: { startError: 'hang', steps: [failed(20_000, 'EXPIRED')], callbacks: [] },
  network_error: {
    startError: 'cut',
    steps: [failed(8000, 'NETWORK_ERROR')],
    pollError: { untilMs: 8000, http: 503, code: 'SERVICE_UNAVAILABLE' },
    callbacks: [],
  },
  delayed: { steps: [paid(15_000)] },
  // decided by a tester
  person_approved: { steps: [paid(0)] },
  person_declined: { steps: [failed(0, 'APPROVAL_REJECTED')] },
  withdrawn: { steps: [failed(0, 'WITHDRAWN')] }, // by the gateway
  withdrawn_then_paid: { steps: [failed(0, 'WITHDRAWN'), paid(15_000)] }, // the customer had approved before
  // cards
  card_left: { steps: [failed(0, 'PAYER_CANCELLED')] },
  waits_for_card: { steps: [failed(cardMs, 'EXPIRED')] },
  card_approved: { steps: [paid(0)], card: cardApproved },
  card_not_honoured: cardFailed('05', 'Do not honour'),
  card_no_funds: cardFailed('51', 'Insufficient funds'),
  card_expired: cardFailed('54', 'Expired card'),
  card_wrong_cvv: cardFailed('82', 'Wrong CVV'),
  card_not_authenticated: cardFailed('1A', 'Not authenticated'),
  card_error_then_paid: {
    steps: [paid(3000)],
    pollError: { untilMs: 3000, http: 500, code: '96' },
    callbacks: [],
    card: cardApproved,
  },
} satisfies Record<string, ChargeEnding>

export type EndingName = keyof typeof table
export const endings: Readonly<Record<EndingName, ChargeEnding>> = table

const byTotal: Readonly<Record<string, EndingName>> = {
  1: 'timeout',
  2: 'network_error',
  3: 'no_funds',
  4: 'declined',
  5: 'delayed',
}

const byLastDigits: Readonly<Record<string, EndingName>> = {
  '000': 'approved',
  '001': 'approved',
  '002': 'no_funds',
  '003': 'declined',
  '004': 'no_answer',
  '005': 'error_then_paid',
  '006': 'no_callback',
  '007': 'failed_then_paid',
  '008': 'told_often',
  '009': 'other_amount',
  '010': 'refused',
  '011': 'approved_late',
}

type EndingInput = { method: string; amount: bigint; payer: string | null; voucher?: string }

// The amount takes precedence over the number, so that a merchant can test it with any wallet.
export function chooseEnding({ method, amount, payer, voucher }: EndingInput): EndingName {
  if (method === 'card') return 'waits_for_card'
  const total = byTotal[String(amount)]
  if (total) return total
  if (method === 'telecel' && !/^(?!000000)\d{6}$/.test(voucher ?? '')) return 'wrong_voucher'
  return byLastDigits[payer?.slice(-3) ?? ''] ?? 'waits_for_person'
}

// The state of a charge depends only on its row and the time, so it survives a restart and is the same on every node.
// `timeScale` scales all times.
export type ChargeState = {
  status: 'PENDING' | 'SUCCESSFUL' | 'FAILED'
  reason?: string
  pollError?: { http: 500 | 503; code: string } // polls fail at this time
}

export const endingOfCharge = (charge: Pick<Charge, 'ending' | 'decided'>): ChargeEnding =>
  endings[(charge.decided ?? charge.ending) as EndingName]

const sinceMs = (charge: Charge) => (charge.decided_at ?? charge.created_at).getTime()

export function stateAt(charge: Charge, now: Date, timeScale = 1): ChargeState {
  const { steps, pollError } = endingOfCharge(charge)
  const elapsedMs = now.getTime() - sinceMs(charge)
  const step = steps.findLast(({ afterMs }) => afterMs * timeScale <= elapsedMs)
  return {
    status: step?.status ?? 'PENDING',
    ...(step?.reason && { reason: step.reason }),
    ...(pollError && elapsedMs < pollError.untilMs * timeScale && { pollError }),
  }
}

// Whether a tester may decide. Charges of wallets that answer automatically cannot be decided.
export const waitsForPerson = (charge: Charge, now: Date, timeScale = 1) =>
  charge.ending === 'waits_for_person' && stateAt(charge, now, timeScale).status === 'PENDING'

const waiting: readonly string[] = ['waits_for_person', 'waits_for_card', 'no_answer', 'approved_late']

// Whether the charge can be withdrawn: it is undecided and does not resolve automatically.
export const isWithdrawable = (charge: Charge, now: Date, timeScale = 1) =>
  !charge.decided && waiting.includes(charge.ending) && stateAt(charge, now, timeScale).status === 'PENDING'

type TimedCallback = { at: Date; answer: ProviderAnswer }

// The callbacks of a charge and their times. Their content is computed in advance, so that it does not depend on when a
// timer fires.
export function callbacksOf(charge: Charge, timeScale = 1): TimedCallback[] {
  const ending = endingOfCharge(charge)
  const callbacks: readonly Callback[] = ending.callbacks ?? ending.steps
  return callbacks.map(({ afterMs, stale }) => {
    const at = new Date(sinceMs(charge) + Math.ceil(afterMs * timeScale))
    const state = stale ? ({ status: 'PENDING' } as const) : stateAt(charge, at, timeScale)
    return { at, answer: chargeAnswer(charge, state) }
  })
}

type ProviderAnswer = ReturnType<typeof chargeAnswer>

// The provider's answer about a charge.
export function chargeAnswer(charge: Charge, { status, reason }: ChargeState) {
  const { surcharge = 0n, card } = endingOfCharge(charge)
  const isPaid = status === 'SUCCESSFUL'
  return {
    status,
    amount: formatMoney(charge.amount + (isPaid ? surcharge : 0n), charge.currency),
    currency: charge.currency,
    externalId: charge.reference,
    ...(charge.payer && { payer: { partyIdType: 'MSISDN', partyId: charge.payer } }),
    ...(isPaid && { financialTransactionId: transactionOf(charge.reference) }),
    ...(reason && { reason }),
    ...(card && { card: { type: charge.card_type, last4: charge.card_last4, ...card } }),
    ...pathsOf(charge),
  }
}

// Where the customer continues: on the card page, or at the address in the QR code.
export function pathsOf({ method, reference }: Pick<Charge, 'method' | 'reference'>) {
  if (method === 'card') return { redirectPath: `/sandbox/card/${reference}` }
  if (method === 'ghqr') return { qrPath: `/sandbox/phone/${reference}` }
  return {}
}

// The provider's transaction id: the same on each request, and unique to the charge.
const transactionOf = (reference: string) =>
  String(createHash('sha256').update(reference).digest().readBigUInt64BE(0))
