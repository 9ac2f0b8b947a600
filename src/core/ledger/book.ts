import type { MerchantSettings } from '../merchant/settings.ts'
import { type Attempt, feeBorneByCustomer } from '../payment/attempt.ts'
import type { DisputeRecord, MoneyBack, ReversalRecord } from '../payment/change.ts'
import type { Payment } from '../payment/payment.ts'
import type { RefundChange } from '../refund/refund.ts'
import { feeOf, returnedFee } from '../merchant/fee.ts'
import type { LedgerAccount, Transfer, TransferKind } from './transfer.ts'

// Which event makes which transfers: the table of docs/ledger.md. Pure functions from what a change does to a payment to
// the rows that are written in the same commit.

export type LedgerTerms = Pick<MerchantSettings, 'fee' | 'provider_fee' | 'fee_on_refund'> & {
  isOwnAccount: boolean // the provider account belongs to the merchant: its money never passes the operator
}

export type BookedPayment = Pick<
  Payment,
  'merchant_id' | 'tx_reference' | 'mode' | 'total' | 'currency' | 'paid_attempt_id'
>
export type Charge = Pick<
  Attempt,
  | 'attempt_id'
  | 'number'
  | 'provider_account'
  | 'payment_method'
  | 'state'
  | 'charged'
  | 'charged_currency'
  | 'fee'
  | 'provider_time'
  | 'updated_at'
>

// One transfer before it has its keys. `cause` is unique within the payment.
export type Entry = {
  cause: string
  kind: TransferKind
  debit: LedgerAccount
  credit: LedgerAccount
  amount: bigint
  currency: string
  at: Date
  attempt_id?: string
  refund_reference?: string
  reason?: string
}

const isPaying = ({ paid_attempt_id }: BookedPayment, { attempt_id }: Charge) =>
  paid_attempt_id === attempt_id

const currencyOf = ({ currency }: BookedPayment, { charged_currency }: Charge) => charged_currency ?? currency

// What the provider took. A paid charge without a figure took what was requested. Null: no money is known to have moved.
export const chargedOf = ({ total }: Pick<Payment, 'total'>, { state, charged }: Charge) =>
  charged ?? (state === 'paid' ? total : null)

// The entries of one charge as it is now.
export function chargeEntries(payment: BookedPayment, charge: Charge, terms: LedgerTerms): Entry[] {
  const charged = chargedOf(payment, charge)
  if (charged === null) return []
  const { total } = payment
  const paying = isPaying(payment, charge)
  const fee = charge.fee ?? 0n
  const borne = paying ? feeBorneByCustomer(total, charged, charge.fee) : 0n
  const due = !paying ? 0n : charged < total ? charged : total
  const provider: LedgerAccount = `provider:${charge.provider_account}`
  const { entry, own } = entriesOf(payment, charge, terms)
  if (terms.isOwnAccount)
    return [
      ...own('charge', 'charge', provider, 'merchant', charged),
      ...own('provider_fee', 'provider_fee', 'merchant', provider, fee),
      ...gatewayFee(payment, charge, terms),
    ]
  const share = fee - borne
  return [
    ...entry('charge', 'charge', provider, 'merchant', due),
    ...entry('unmatched', 'unmatched_charge', provider, 'suspense', charged - due - borne),
    ...entry('customer_fee', 'customer_fee', provider, 'provider_fees', borne),
    ...entry('provider_fee', 'provider_fee', 'provider_fees', provider, fee),
    ...(paying && terms.provider_fee === 'merchant'
      ? entry('merchant_fee', 'merchant_fee', 'merchant', 'provider_fees', share)
      : []),
    ...gatewayFee(payment, charge, terms),
  ]
}

function gatewayFee(payment: BookedPayment, charge: Charge, terms: LedgerTerms): Entry[] {
  if (!isPaying(payment, charge)) return []
  const fee = feeOf(terms.fee, { ...payment, payment_method: charge.payment_method })
  const { entry } = entriesOf(payment, charge, terms)
  return entry('gateway_fee', 'gateway_fee', 'merchant', 'gateway_fees', fee)
}

// Makes the entries of one charge; an amount of zero makes none. An entry of `own` is followed by its contra, so that
// neither the provider account nor the merchant keeps a balance.
function entriesOf(payment: BookedPayment, charge: Charge, terms: LedgerTerms) {
  const { attempt_id, number, provider_time, updated_at } = charge
  const currency = currencyOf(payment, charge)
  const entry = (
    name: string,
    kind: TransferKind,
    debit: LedgerAccount,
    credit: LedgerAccount,
    amount: bigint,
    at = provider_time ?? updated_at,
  ): Entry[] =>
    amount > 0n ? [{ cause: `${number}/${name}`, kind, debit, credit, amount, currency, at, attempt_id }] : []
  const own: typeof entry = (name, kind, debit, credit, amount, at) => [
    ...entry(name, kind, debit, credit, amount, at),
    ...entry(`${name}/own`, 'own_account', credit, debit, amount, at),
  ]
  return { entry, own, out: terms.isOwnAccount ? own : entry }
}

// The transfers that turn the entries of a charge from those before a change into those after it. A charge is booked
// again if the provider reports another amount later, or if it pays now: the former entries are transferred back.
export function bookCharge(
  before: { payment: BookedPayment; charge: Charge | undefined },
  after: { payment: BookedPayment; charge: Charge },
  terms: LedgerTerms,
): Entry[] {
  if (before.charge && isSameCharge(before.payment, before.charge, after.payment, after.charge)) return []
  const former = before.charge ? chargeEntries(before.payment, before.charge, terms) : []
  const entries = chargeEntries(after.payment, after.charge, terms)
  if (former.length === 0) return entries
  const at = after.charge.updated_at
  const time = at.getTime()
  return [
    ...former.map(one => ({ ...transferBack(one, `${one.cause}/back@${time}`, reportedOtherwise), at })),
    ...entries.map(one => ({ ...one, cause: `${one.cause}@${time}` })),
  ]
}

const isSameCharge = (paymentBefore: BookedPayment, before: Charge, payment: BookedPayment, after: Charge) =>
  chargedOf(paymentBefore, before) === chargedOf(payment, after) &&
  before.charged_currency === after.charged_currency &&
  (before.fee === after.fee || chargedOf(payment, after) === null) &&
  isPaying(paymentBefore, before) === isPaying(payment, after)

const reportedOtherwise = 'The provider reports the charge otherwise now.'

const transferBack = (entry: Entry, cause: string, reason: string): Entry => ({
  ...entry,
  cause,
  kind: entry.kind === 'own_account' ? 'own_account' : 'transfer_back',
  debit: entry.credit,
  credit: entry.debit,
  reason,
})

// Reversals and disputes of a charge. `stored` are the records before this change, `records` the new and changed ones.
// In all never more is taken than was charged, because a lost dispute may also be listed as a reversal.
export function bookMoneyBack(
  payment: BookedPayment,
  charge: Charge,
  stored: MoneyBack,
  records: MoneyBack,
  terms: LedgerTerms,
): Entry[] {
  const charged = chargedOf(payment, charge)
  if (charged === null) return []
  let left = charged
  const take = (amount: bigint) => {
    const taken = least(amount, left)
    left -= taken
    return taken
  }
  for (const { amount } of stored.reversals.filter(isCounted)) take(amount)
  for (const { amount, state } of stored.disputes) if (state === 'lost') take(amount)
  const former = new Map(stored.disputes.map(one => [one.dispute_id, one]))
  return [
    ...records.reversals
      .filter(isCounted)
      .flatMap(one => reversalEntries(payment, charge, one, take(one.amount), terms)),
    ...records.disputes.flatMap(one =>
      disputeEntries(
        payment,
        charge,
        {
          before: former.get(one.dispute_id),
          after: one,
          taken: one.state === 'lost' ? take(one.amount) : 0n,
        },
        terms,
      ),
    ),
  ]
}

// The provider reports another amount of a charge of which money went back before: the limit of what goes back changes.
export function bookLimit(
  payment: BookedPayment,
  { before, after }: { before: Charge; after: Charge },
  stored: MoneyBack,
  terms: LedgerTerms,
): Entry[] {
  const lost = stored.disputes.filter(({ state }) => state === 'lost')
  const sum = [...stored.reversals.filter(isCounted), ...lost].reduce(
    (total, { amount }) => total + amount,
    0n,
  )
  if (sum === 0n) return []
  const takenOf = (charge: Charge) => least(sum, chargedOf(payment, charge) ?? 0n)
  const [formerly, now] = [takenOf(before), takenOf(after)]
  const { out } = entriesOf(payment, after, terms)
  const holder = holderOf(payment, after, terms)
  const provider: LedgerAccount = `provider:${after.provider_account}`
  const cause = `reversal@${after.updated_at.getTime()}`
  return [
    ...out(cause, 'reversal', holder, provider, above(now, formerly), after.updated_at),
    ...out(cause, 'transfer_back', provider, holder, above(formerly, now), after.updated_at),
  ]
}

// A reversal that turned out to be one of our refunds is booked as that refund.
const isCounted = ({ refund_reference }: ReversalRecord) => !refund_reference

const least = (a: bigint, b: bigint) => (a < b ? a : b)

const holderOf = (payment: BookedPayment, charge: Charge, { isOwnAccount }: LedgerTerms): LedgerAccount =>
  isOwnAccount || isPaying(payment, charge) ? 'merchant' : 'suspense'

function reversalEntries(
  payment: BookedPayment,
  charge: Charge,
  { reversal_id, reversed_at }: ReversalRecord,
  amount: bigint,
  terms: LedgerTerms,
): Entry[] {
  const { out } = entriesOf(payment, charge, terms)
  const holder = holderOf(payment, charge, terms)
  const provider: LedgerAccount = `provider:${charge.provider_account}`
  return out(`reversal/${reversal_id}`, 'reversal', holder, provider, amount, reversed_at)
}

// The provider listed one of our refunds as its own reversal before it could be recognized.
export const bookClaimedReversal = (
  payment: BookedPayment,
  charge: Charge,
  record: ReversalRecord,
  terms: LedgerTerms,
): Entry[] =>
  reversalEntries(payment, charge, record, record.amount, terms).map(one =>
    transferBack(one, `${one.cause}/back`, 'It is a refund that was requested here.'),
  )

// An open dispute of a paying charge holds the amount in suspense. The money of other charges is there already, and that of
// the merchant's own account never passes the operator.
function disputeEntries(
  payment: BookedPayment,
  charge: Charge,
  { before, after, taken }: { before: DisputeRecord | undefined; after: DisputeRecord; taken: bigint },
  terms: LedgerTerms,
): Entry[] {
  const { entry, out } = entriesOf(payment, charge, terms)
  const { state, amount, dispute_id } = after
  const opened = after.opened_at
  const resolved = after.resolved_at ?? after.opened_at
  const name = (event: string) => `dispute/${dispute_id}/${event}`
  const provider: LedgerAccount = `provider:${charge.provider_account}`
  const isHeld = isPaying(payment, charge) && !terms.isOwnAccount
  if (!isHeld)
    return out(name('lost'), 'dispute_lost', holderOf(payment, charge, terms), provider, taken, resolved)
  const held = before?.amount ?? amount
  return [
    ...(before ? [] : entry(name('opened'), 'dispute_opened', 'merchant', 'suspense', held, opened)),
    ...(state === 'open'
      ? []
      : [
          ...entry(name('released'), 'dispute_won', 'suspense', 'merchant', above(held, taken), resolved),
          ...entry(name('exceeded'), 'dispute_opened', 'merchant', 'suspense', above(taken, held), resolved),
          ...entry(name('lost'), 'dispute_lost', 'suspense', provider, taken, resolved),
        ]),
  ]
}

const above = (a: bigint, b: bigint) => (a > b ? a - b : 0n)

const refundSource = { payment: 'merchant', surplus: 'suspense', fee: 'provider_fees' } as const

// The fee that the operator took of the paying charge, and what was refunded of the payment before, if the fee is returned.
export type FeeToReturn = { fee: bigint; refunded: bigint }

// A refund holds its amount until it ends. Through the merchant's own account nothing is held.
export function bookRefund(
  payment: BookedPayment,
  { before, after }: RefundChange,
  terms: LedgerTerms,
  feeToReturn?: FeeToReturn,
): Entry[] {
  if (before?.state === after.state) return []
  const { amount, currency, refund_reference, attempt_id, kind, source, state } = after
  const provider: LedgerAccount = `provider:${after.provider_account}`
  const at = after.succeeded_at ?? after.updated_at
  const entry = (
    name: string,
    entryKind: TransferKind,
    debit: LedgerAccount,
    credit: LedgerAccount,
    sum = amount,
    time = at,
  ): Entry[] => {
    const cause = `refund/${refund_reference}/${name}`
    const keys = { cause, kind: entryKind, attempt_id, refund_reference }
    return sum > 0n ? [{ ...keys, debit, credit, amount: sum, currency, at: time }] : []
  }
  const returned =
    state === 'succeeded' && source === 'payment' && feeToReturn
      ? returnedFee(feeToReturn.fee, payment.total, {
          before: feeToReturn.refunded,
          after: feeToReturn.refunded + amount,
        })
      : 0n
  const feeReturn = entry('fee', 'gateway_fee_returned', 'gateway_fees', 'merchant', returned)
  if (terms.isOwnAccount)
    return state === 'succeeded'
      ? [
          ...entry('succeeded', 'refund_succeeded', 'merchant', provider),
          ...entry('succeeded/own', 'own_account', provider, 'merchant'),
          ...feeReturn,
        ]
      : []
  const from = refundSource[source]
  const paidFrom: LedgerAccount = kind === 'manual' ? 'bank' : provider
  const requested = before
    ? []
    : entry('requested', 'refund_requested', from, 'refunds_pending', amount, after.created_at)
  const holder = before?.state === 'failed' ? from : 'refunds_pending'
  if (state === 'succeeded')
    return [...requested, ...entry('succeeded', 'refund_succeeded', holder, paidFrom), ...feeReturn]
  if (state === 'failed') return [...requested, ...entry('failed', 'refund_failed', 'refunds_pending', from)]
  return requested
}

export type NewTransfer = Omit<Transfer, 'created_at'> // the database sets it when the row is written

export function transferOf({ merchant_id, tx_reference, mode }: BookedPayment, entry: Entry): NewTransfer {
  const { cause, kind, debit, credit, amount, currency, at } = entry
  const { attempt_id = null, refund_reference = null, reason = '' } = entry
  return {
    merchant_id,
    transfer_id: `${tx_reference}/${cause}`,
    mode,
    currency,
    debit_account: debit,
    credit_account: credit,
    amount,
    kind,
    tx_reference,
    attempt_id,
    refund_reference,
    reason,
    happened_at: at,
  }
}
