import { createHash } from 'node:crypto'
import { formatMoney } from '../core/money.ts'
import type { Charge } from '../store/sandboxCharges.ts'
import { type Callback, type Ending, type EndingName, endings } from './endings.ts'

// How a charge stands follows from its row and the time alone: so it survives a restart, and every node says the same.
// `pace` stretches or shrinks all times.
export type State = {
  status: 'PENDING' | 'SUCCESSFUL' | 'FAILED'
  reason?: string
  blind?: { http: 500 | 503; code: string } // nobody can ask now
}

export const endingOfCharge = (charge: Pick<Charge, 'ending' | 'decided'>): Ending =>
  endings[(charge.decided ?? charge.ending) as EndingName]

const sinceMs = (charge: Charge) => (charge.decided_at ?? charge.created_at).getTime()

export function stateAt(charge: Charge, now: Date, pace = 1): State {
  const { steps, blind } = endingOfCharge(charge)
  const elapsedMs = now.getTime() - sinceMs(charge)
  const step = steps.findLast(({ afterMs }) => afterMs * pace <= elapsedMs)
  return {
    status: step?.status ?? 'PENDING',
    ...(step?.reason && { reason: step.reason }),
    ...(blind && elapsedMs < blind.untilMs * pace && { blind }),
  }
}

// A person may decide now, and not when the wallet answers by itself.
export const waitsForPerson = (charge: Charge, now: Date, pace = 1) =>
  charge.ending === 'waits_for_person' && stateAt(charge, now, pace).status === 'PENDING'

const waiting: readonly string[] = ['waits_for_person', 'waits_for_card', 'no_answer']

// Nobody has answered, and nobody will by themselves. A wallet that does has the money on its way.
export const isWithdrawable = (charge: Charge, now: Date, pace = 1) =>
  !charge.decided && waiting.includes(charge.ending) && stateAt(charge, now, pace).status === 'PENDING'

export type TimedCallback = { at: Date; answer: ProviderAnswer }

// What the provider tells by itself, and when. Worked out beforehand, so that a timer that fires early or late still
// tells what was meant.
export function callbacksOf(charge: Charge, pace = 1): TimedCallback[] {
  const ending = endingOfCharge(charge)
  const callbacks: readonly Callback[] = ending.callbacks ?? ending.steps
  return callbacks.map(({ afterMs, stale }) => {
    const at = new Date(sinceMs(charge) + Math.ceil(afterMs * pace))
    return { at, answer: answerOf(charge, stale ? { status: 'PENDING' } : stateAt(charge, at, pace)) }
  })
}

export type ProviderAnswer = ReturnType<typeof answerOf>

// What the provider says of a charge.
export function answerOf(charge: Charge, { status, reason }: State) {
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

// Where the customer goes on.
export function pathsOf({ method, reference }: Pick<Charge, 'method' | 'reference'>) {
  if (method === 'card') return { redirectPath: `/sandbox/card/${reference}` }
  if (method === 'ghqr') return { qrPath: `/sandbox/phone/${reference}` }
  return {}
}

// A number of the provider's own, the same each time it is asked, and long enough that no two charges share one.
const transactionOf = (reference: string) =>
  String(createHash('sha256').update(reference).digest().readBigUInt64BE(0))
