import { decideCancel } from '../../core/payment/customerActs.ts'
import type { Actor } from '../../core/access/audit.ts'
import { cancelEntry } from '../../core/access/auditEntries.ts'
import type { Cause } from '../../core/payment/change.ts'
import type { Mode } from '../../core/mode.ts'
import type { Status } from '../../core/payment/payment.ts'
import type { PaymentDeps } from '../../runtime/runtime.ts'
import { attemptsOf } from '../../store/payments/attempts.ts'
import { auditedDb } from '../access/audit.ts'
import { requireOriginal } from '../installation/requireOriginal.ts'
import { changeOf, changeOne, wakeDispatchers } from './writeChanges.ts'

// `asked`: an attempt is unresolved, so the payment is cancelled if that ends without success. `already`: it was cancelled
// before, or cancelling was asked for. `changed`: its status is not the one that the user has seen.
export type CancelResult = 'cancelled' | 'asked' | 'already' | 'changed' | 'no_payment'
type Cancelled = { result: CancelResult; before: Status }

type CancelRequest = {
  merchant_id: string
  mode: Mode
  tx_reference: string
  seen: string
  by: Extract<Cause, 'merchant' | 'operator'>
}

// The shop cancels a payment that is not paid, or the operator for it. A second submission changes nothing.
export async function cancelForMerchant(
  deps: Pick<PaymentDeps, 'db' | 'localWorkers' | 'installation' | 'wake' | 'watch'>,
  { merchant_id, mode, tx_reference, seen, by }: CancelRequest,
  actor: Actor,
  now: Date,
): Promise<CancelResult> {
  requireOriginal(deps, mode)
  const key = { merchant_id, tx_reference }
  const db = auditedDb(deps.db, actor, now, (done: { answer: Cancelled } | Cancelled | undefined) => {
    const cancelled = done && 'answer' in done ? done.answer : done
    const isDone = cancelled?.result === 'cancelled' || cancelled?.result === 'asked'
    return isDone ? cancelEntry(key, cancelled.before, cancelled.result === 'asked') : undefined
  })
  const done = await changeOne<Cancelled>(db, deps.localWorkers, key, async (tx, payment) => {
    const before = payment.status
    const answer = (result: CancelResult) => ({ answer: { result, before } })
    if (payment.mode !== mode) return answer('no_payment')
    if (before === 'cancelled' || payment.cancel_requested_at) return answer('already')
    if (before !== seen) return answer('changed')
    const decided = decideCancel(payment, await attemptsOf(tx, merchant_id, tx_reference), now, by)
    if (!decided) return answer('changed')
    return {
      ...answer(decided.payment.status === 'cancelled' ? 'cancelled' : 'asked'),
      change: changeOf(payment, decided.payment, decided.events),
    }
  })
  if (done?.result === 'cancelled') wakeDispatchers(deps)
  return done?.result ?? 'no_payment'
}
