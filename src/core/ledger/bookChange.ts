import { noFee } from '../merchant/fee.ts'
import type { MerchantSettings } from '../merchant/settings.ts'
import type { Attempt } from '../payment/attempt.ts'
import { type MoneyBack, noMoneyBack, type ReversalRecord } from '../payment/change.ts'
import type { RefundChange } from '../refund/refund.ts'
import {
  bookCharge,
  type BookedPayment,
  bookLimit,
  bookMoneyBack,
  bookRefund,
  bookClaimedReversal,
  chargedOf,
  chargeEntries,
  type FeeToReturn,
  type NewTransfer,
  transferOf,
} from './book.ts'

// What a change of a payment means for the ledger.
export type LedgerChange = {
  before: BookedPayment
  after: BookedPayment
  attemptBefore?: Attempt // of `repliedAttempt`
  repliedAttempt?: Attempt
  isOwnAccount?: boolean // the provider account of the attempt or the refund belongs to the merchant
  moneyBackBefore?: MoneyBack // the records of the attempt before the change
  moneyBack?: MoneyBack
  refund?: RefundChange
  refundedCharge?: Attempt // of `refund`
  claimedReversals?: readonly ReversalRecord[] // recorded reversals that turned out to be `refund`
  feeToReturn?: FeeToReturn
}

// The transfers of a change: charge first, then what goes back.
export function transfersOf(change: LedgerChange, settings: () => MerchantSettings): NewTransfer[] {
  const { before, after, attemptBefore, repliedAttempt, refund } = change
  const hasCharge = attemptBefore && repliedAttempt && chargedOf(after, repliedAttempt) !== null
  if (!refund && !hasCharge) return []
  const terms = { ...settings(), isOwnAccount: change.isOwnAccount ?? false }
  const entries = hasCharge
    ? [
        ...bookCharge(
          { payment: before, charge: attemptBefore },
          { payment: after, charge: repliedAttempt },
          terms,
        ),
        ...bookLimit(
          after,
          { before: attemptBefore, after: repliedAttempt },
          change.moneyBackBefore ?? noMoneyBack,
          terms,
        ),
        ...(change.moneyBack
          ? bookMoneyBack(
              after,
              repliedAttempt,
              change.moneyBackBefore ?? noMoneyBack,
              change.moneyBack,
              terms,
            )
          : []),
      ]
    : []
  const { refundedCharge, claimedReversals = [] } = change
  if (refundedCharge)
    entries.push(...claimedReversals.flatMap(one => bookClaimedReversal(after, refundedCharge, one, terms)))
  if (refund) entries.push(...bookRefund(after, refund, terms, change.feeToReturn))
  return entries.map(entry => transferOf(after, entry))
}

// What is missing in the ledger of a charge, by the records: it was paid before there was a ledger, or on a node of an
// earlier version. The operator's fee is not charged afterwards. `booked` are the ids of the payment's transfers.
export function missingTransfers(
  payment: BookedPayment,
  attempt: Attempt,
  records: MoneyBack,
  settings: MerchantSettings,
  isOwnAccount: boolean,
  booked: readonly string[],
): NewTransfer[] {
  const terms = { ...settings, fee: noFee, isOwnAccount }
  const { tx_reference } = payment
  const isCharge = new RegExp(`^${attempt.number}/(charge|unmatched|customer_fee|provider_fee|merchant_fee)`)
  const isBooked = booked.some(id => isCharge.test(id.slice(tx_reference.length + 1)))
  const entries = [
    ...(isBooked ? [] : chargeEntries(payment, attempt, terms)),
    ...bookMoneyBack(payment, attempt, noMoneyBack, records, terms),
  ]
  const transfers = entries.map(entry => transferOf(payment, entry))
  return transfers.filter(({ transfer_id }) => !booked.includes(transfer_id))
}
