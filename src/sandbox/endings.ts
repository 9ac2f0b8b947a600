// The possible outcomes of a charge. Times are in milliseconds from the request or, after a decision, from the
// decision.
const soonMs = 600 // a customer with the phone at hand
const promptMs = 10_000 // the expiry of an ignored prompt
const personMs = 5 * 60_000 // the expiry of a prompt for a tester
const cardMs = 15 * 60_000 // the expiry of a card page
export const hangMs = 15_000 // longer than the timeout of any client

type Step = { afterMs: number; status: 'SUCCESSFUL' | 'FAILED'; reason?: string }
export type Callback = { afterMs: number; stale?: boolean } // a stale one reports the previous state

export type ChargeEnding = {
  steps: readonly Step[]
  taken?: 'error' | 'cut' | 'hang' // how the answer fails, although the request was accepted
  blind?: { untilMs: number; http: 500 | 503; code: string } // until then polls fail
  callbacks?: readonly Callback[] // default: one for each step
  surcharge?: bigint // charged in addition, in minor units
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
  error_then_paid: { taken: 'error', steps: [paid(2000)], callbacks: [] },
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
  waits_for_person: { steps: [failed(personMs, 'EXPIRED')] },
  // totals
  timeout: { taken: 'hang', steps: [failed(20_000, 'EXPIRED')], callbacks: [] },
  network_error: {
    taken: 'cut',
    steps: [failed(8000, 'NETWORK_ERROR')],
    blind: { untilMs: 8000, http: 503, code: 'SERVICE_UNAVAILABLE' },
    callbacks: [],
  },
  delayed: { steps: [paid(15_000)] },
  // a person decides
  person_approved: { steps: [paid(0)] },
  person_declined: { steps: [failed(0, 'APPROVAL_REJECTED')] },
  withdrawn: { steps: [failed(0, 'WITHDRAWN')] }, // by the gateway
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
    blind: { untilMs: 3000, http: 500, code: '96' },
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
}

type Asked = { method: string; amount: bigint; payer: string | null; voucher?: string }

// The amount takes precedence over the number, so that a merchant can test it with any wallet.
export function chooseEnding({ method, amount, payer, voucher }: Asked): EndingName {
  if (method === 'card') return 'waits_for_card'
  const total = byTotal[String(amount)]
  if (total) return total
  if (method === 'telecel' && !/^(?!000000)\d{6}$/.test(voucher ?? '')) return 'wrong_voucher'
  return byLastDigits[payer?.slice(-3) ?? ''] ?? 'waits_for_person'
}
