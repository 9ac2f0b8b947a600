import { formatMoney } from '../core/money.ts'
import type { Texts } from '../core/languages/en.ts'
import type { SandboxRefund } from '../store/sandboxRefunds.ts'

// The possible outcomes of a refund. Times count from the request.
const soonMs = 600

type RefundStep = { afterMs: number; status: 'SUCCESSFUL' | 'FAILED' | 'NEEDS_ACTION'; reason?: string }

type RefundEnding = {
  steps: readonly RefundStep[]
  refused?: string // the code with which the request is refused; nothing is stored
  answerError?: 'error' | 'cut' | 'hang' // how the answer fails, although the request was accepted
  pollError?: { untilMs: number; http: 503; code: string } // until then polls fail
  callbacks?: readonly { afterMs: number; isStale?: boolean }[] // default: one for each step
  surcharge?: bigint // refunded in addition, in minor units
}

const succeeded = (afterMs: number): RefundStep => ({ afterMs, status: 'SUCCESSFUL' })
const failed = (afterMs: number, reason: string): RefundStep => ({ afterMs, status: 'FAILED', reason })
const needsAction: RefundStep = { afterMs: soonMs, status: 'NEEDS_ACTION', reason: 'BANK_DETAILS_REQUIRED' }

const table = {
  succeeds: { steps: [succeeded(soonMs)] },
  delayed: { steps: [succeeded(15_000)] },
  fails: { steps: [failed(soonMs, 'PAYEE_NOT_FOUND')] },
  needs_action: { steps: [needsAction] },
  needs_action_then_succeeds: { steps: [needsAction, succeeded(20_000)] },
  error_then_succeeds: { answerError: 'error', steps: [succeeded(2000)], callbacks: [] },
  silent_then_succeeds: {
    answerError: 'hang',
    steps: [succeeded(8000)],
    pollError: { untilMs: 8000, http: 503, code: 'SERVICE_UNAVAILABLE' },
    callbacks: [],
  },
  cut_then_fails: { answerError: 'cut', steps: [failed(2000, 'PAYEE_NOT_FOUND')], callbacks: [] },
  fails_then_succeeds: { steps: [failed(1000, 'INTERNAL_PROCESSING_ERROR'), succeeded(16_000)] },
  other_amount: { steps: [succeeded(soonMs)], surcharge: 1n },
  stays_pending: { steps: [] },
  no_float: { refused: 'NOT_ENOUGH_FUNDS', steps: [] },
  told_often: {
    steps: [succeeded(soonMs)],
    callbacks: [{ afterMs: 0 }, { afterMs: 600 }, { afterMs: 700 }, { afterMs: 800, isStale: true }],
  },
} satisfies Record<string, RefundEnding>

export type RefundEndingName = keyof typeof table
export const refundEndings: Readonly<Record<RefundEndingName, RefundEnding>> = table

// By the amount of the refund in minor units. Every other amount succeeds. The language files have a text for each.
export const refundEndingsByAmount: Readonly<Record<string, keyof Texts['sandbox']['by_refund']>> = {
  11: 'delayed',
  12: 'fails',
  13: 'needs_action',
  14: 'needs_action_then_succeeds',
  15: 'error_then_succeeds',
  16: 'silent_then_succeeds',
  17: 'cut_then_fails',
  18: 'fails_then_succeeds',
  19: 'other_amount',
  20: 'stays_pending',
  21: 'no_float',
  22: 'told_often',
}

export const chooseRefundEnding = (amount: bigint): RefundEndingName =>
  refundEndingsByAmount[String(amount)] ?? 'succeeds'

export const endingOfRefund = ({ ending }: Pick<SandboxRefund, 'ending'>): RefundEnding =>
  refundEndings[ending as RefundEndingName]

export const isFinalFailure = (ending: RefundEndingName) =>
  endingOfRefund({ ending }).steps.at(-1)?.status === 'FAILED'

// The state of a refund depends only on its row and the time, as that of a charge.
export function refundStateAt(refund: SandboxRefund, now: Date, timeScale = 1) {
  const { steps, pollError } = endingOfRefund(refund)
  const elapsedMs = now.getTime() - refund.created_at.getTime()
  const step = steps.findLast(({ afterMs }) => afterMs * timeScale <= elapsedMs)
  return {
    status: step?.status ?? ('PENDING' as const),
    ...(step?.reason && { reason: step.reason }),
    ...(pollError && elapsedMs < pollError.untilMs * timeScale && { pollError }),
  }
}

type RefundState = Pick<ReturnType<typeof refundStateAt>, 'status' | 'reason'>

// The provider's answer about a refund.
export function refundAnswer(refund: SandboxRefund, { status, reason }: RefundState) {
  const { surcharge = 0n } = endingOfRefund(refund)
  const amount = status === 'SUCCESSFUL' ? refund.amount + surcharge : refund.amount
  return {
    status,
    amount: formatMoney(amount, refund.currency),
    currency: refund.currency,
    externalId: refund.reference,
    charge: refund.charge,
    ...(reason && { reason }),
  }
}

// The callbacks of a refund and their times.
export function refundCallbacks(refund: SandboxRefund, timeScale = 1) {
  const { callbacks, steps } = endingOfRefund(refund)
  const timed: NonNullable<RefundEnding['callbacks']> = callbacks ?? steps
  return timed.map(({ afterMs, isStale }) => {
    const at = new Date(refund.created_at.getTime() + Math.ceil(afterMs * timeScale))
    const state = isStale ? ({ status: 'PENDING' } as const) : refundStateAt(refund, at, timeScale)
    return { at, answer: refundAnswer(refund, state) }
  })
}
