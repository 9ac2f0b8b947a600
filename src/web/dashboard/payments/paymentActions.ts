import { audited, auditedDb } from '../../../actions/access/audit.ts'
import { requireSending } from '../../../actions/installation/requireOriginal.ts'
import { type ResendResult, sendReceiptAgain } from '../../../actions/messages/receipts.ts'
import { redeliverAsSeen, type Redelivered } from '../../../actions/notifications/redeliver.ts'
import { cancelForMerchant } from '../../../actions/payments/cancelForMerchant.ts'
import { receiptEntry, redeliverEntry, revealEntry } from '../../../core/access/auditEntries.ts'
import { notificationId } from '../../../core/notification/notification.ts'
import { storedText } from '../../../core/timeline/storedSentences.ts'
import { fill } from '../../../core/text.ts'
import type { AreaDeps } from '../areaDeps.ts'
import type { MerchantVisit } from '../route.ts'
import { type DoneWord, paymentTexts } from './paymentTexts.ts'

// Of an action: a word of the notice that the page shows, or a sentence that says why nothing was changed.
export type ActionOutcome = { done: DoneWord } | { refused: string }

const keyOf = ({ merchant }: MerchantVisit, tx_reference: string) => ({
  merchant_id: merchant.merchant_id,
  tx_reference,
})

// The merchant's own users act for the shop; an operator acts as the operator.
export const actsAs = ({ role }: MerchantVisit) => (role.at === 'operator' ? 'operator' : 'merchant')

// The form has the number of the receipt, so that a second submission sends no other one.
export async function sendReceiptForm(
  { messageRules, runtime }: AreaDeps,
  visit: MerchantVisit,
  tx_reference: string,
): Promise<ActionOutcome> {
  const { db, actor, now, lang } = visit
  const key = keyOf(visit, tx_reference)
  const medium = visit.field('medium') === 'email' ? 'email' : 'sms'
  const number = Number(/^\d{1,2}$/.exec(visit.field('number'))?.[0] ?? 0)
  const recorded = auditedDb(db, actor, now, ({ done }: ResendResult) =>
    done === 'queued' ? receiptEntry(key, medium) : undefined,
  )
  requireSending(runtime)
  const outcome = await sendReceiptAgain(recorded, key, { medium, number }, messageRules, now)
  const { refused } = paymentTexts[lang]
  if (outcome.done === 'refused')
    return { refused: fill(refused.receipt, { reason: storedText(outcome.reason, lang) }) }
  if (outcome.done === 'no_payment') return { refused: refused.changed }
  if (outcome.done === 'already') return { done: 'already' }
  runtime.wake('senders')
  return { done: 'receipt' }
}

// The form has the time at which the delivery began; a delivery that has begun since is not changed.
export async function redeliverForm(
  { runtime }: AreaDeps,
  visit: MerchantVisit,
  tx_reference: string,
): Promise<ActionOutcome> {
  const { db, actor, now, lang } = visit
  const sequence = Number(/^\d{1,6}$/.exec(visit.field('sequence'))?.[0] ?? 0)
  const key = { ...keyOf(visit, tx_reference), sequence }
  const seen = visit.field('seen')
  const recorded = auditedDb(db, actor, now, (result: Redelivered | 'already') =>
    result !== 'already' && result.redelivered > 0 ? redeliverEntry(key, notificationId(key)) : undefined,
  )
  requireSending(runtime)
  const outcome = await redeliverAsSeen(recorded, key, seen === '' ? null : new Date(seen), now)
  const { refused } = paymentTexts[lang]
  if (outcome === undefined) return { refused: refused.changed }
  if (outcome === 'already') return { done: 'already' }
  if (outcome.being_sent > 0) return { refused: refused.beingSent }
  if (outcome.redelivered === 0)
    return { refused: outcome.no_address > 0 ? refused.noAddress : refused.leftOut }
  runtime.wake('senders')
  return { done: 'redelivered' }
}

export async function cancelForm(
  { runtime }: AreaDeps,
  visit: MerchantVisit,
  tx_reference: string,
): Promise<ActionOutcome> {
  const { actor, now, mode, lang } = visit
  const seen = visit.field('seen')
  const request = { ...keyOf(visit, tx_reference), mode, seen, by: actsAs(visit) } as const
  const result = await cancelForMerchant({ ...runtime, db: visit.db }, request, actor, now)
  const { refused } = paymentTexts[lang]
  if (result === 'changed' || result === 'no_payment') return { refused: refused.changed }
  return { done: result }
}

// Records who looks at the customer's number, before it is shown.
export const recordLook = ({ db, actor, now, merchant }: MerchantVisit, tx_reference: string) =>
  audited(db, actor, now, (_, record) => record(revealEntry(merchant.merchant_id, tx_reference)))
