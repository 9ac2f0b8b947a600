import { createHash } from 'node:crypto'
import { formatMoney } from '../core/money.ts'
import type { Charge } from '../store/sandboxCharges.ts'
import { type Callback, type ChargeEnding, type EndingName, endings } from './endings.ts'

// The state of a charge depends only on its row and the time, so it survives a restart and is the same on every node.
// `pace` scales all times.
export type ChargeState = {
  status: 'PENDING' | 'SUCCESSFUL' | 'FAILED'
  reason?: string
  blind?: { http: 500 | 503; code: string } // polls fail at this time
}

export const endingOfCharge = (charge: Pick<Charge, 'ending' | 'decided'>): ChargeEnding =>
  endings[(charge.decided ?? charge.ending) as EndingName]

const sinceMs = (charge: Charge) => (charge.decided_at ?? charge.created_at).getTime()

export function stateAt(charge: Charge, now: Date, pace = 1): ChargeState {
  const { steps, blind } = endingOfCharge(charge)
  const elapsedMs = now.getTime() - sinceMs(charge)
  const step = steps.findLast(({ afterMs }) => afterMs * pace <= elapsedMs)
  return {
    status: step?.status ?? 'PENDING',
    ...(step?.reason && { reason: step.reason }),
    ...(blind && elapsedMs < blind.untilMs * pace && { blind }),
  }
}

// Whether a person may decide. Wallets that answer automatically cannot be decided.
export const waitsForPerson = (charge: Charge, now: Date, pace = 1) =>
  charge.ending === 'waits_for_person' && stateAt(charge, now, pace).status === 'PENDING'

const waiting: readonly string[] = ['waits_for_person', 'waits_for_card', 'no_answer']

// Whether the charge can be withdrawn: nobody has decided, and it does not resolve automatically.
export const isWithdrawable = (charge: Charge, now: Date, pace = 1) =>
  !charge.decided && waiting.includes(charge.ending) && stateAt(charge, now, pace).status === 'PENDING'

type TimedCallback = { at: Date; answer: ProviderAnswer }

// The callbacks of a charge and their times. Their content is computed in advance, so that it does not depend on when a
// timer fires.
export function callbacksOf(charge: Charge, pace = 1): TimedCallback[] {
  const ending = endingOfCharge(charge)
  const callbacks: readonly Callback[] = ending.callbacks ?? ending.steps
  return callbacks.map(({ afterMs, stale }) => {
    const at = new Date(sinceMs(charge) + Math.ceil(afterMs * pace))
    return { at, answer: chargeAnswer(charge, stale ? { status: 'PENDING' } : stateAt(charge, at, pace)) }
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

// Where the customer continues.
export function pathsOf({ method, reference }: Pick<Charge, 'method' | 'reference'>) {
  if (method === 'card') return { redirectPath: `/sandbox/card/${reference}` }
  if (method === 'ghqr') return { qrPath: `/sandbox/phone/${reference}` }
  return {}
}

// The provider's transaction id: the same on each request, and unique to the charge.
const transactionOf = (reference: string) =>
  String(createHash('sha256').update(reference).digest().readBigUInt64BE(0))
