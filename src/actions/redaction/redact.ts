import { customerMessageIds } from '../../core/message/message.ts'
import { type Attempt, isUnresolved } from '../../core/payment/attempt.ts'
import type { Payment } from '../../core/payment/payment.ts'
import {
  addressWithoutPayer,
  bodyWithoutPayer,
  isPaymentOf,
  maskedOnly,
  type Person,
  spellingsOf,
  textsNaming,
  withoutPayer,
} from '../../core/redaction/redact.ts'
import { bisectBatch, createSkippedRows, type OnSkippedRow } from '../../runtime/skippedRows.ts'
import { isUnavailable } from '../../store/databaseErrors.ts'
import { isOpenRefund } from '../../core/refund/refund.ts'
import type { Db, Tx } from '../../store/db.ts'
import { attemptsOfMany } from '../../store/payments/attempts.ts'
import { selectByKeys, takePayments } from '../../store/payments/locks.ts'
import { type PaymentKey, paymentName } from '../../store/payments/paymentKeys.ts'
import { refundsOfPayments } from '../../store/refunds/merchantRefunds.ts'
import type { PaymentWithMerchant } from '../../store/payments/paymentLife.ts'
import { type FreeTextRow, freeTexts, freeTextsOf, saveFreeTexts } from '../../store/redaction/freeTexts.ts'
import { ofPayments, paymentTexts, readTexts, replaceTexts } from '../../store/redaction/personTraces.ts'
import {
  bodiesOf,
  deliveriesOf,
  endedBefore,
  type EndedPayment,
  type MessageName,
  openOf,
  recipientsOf,
  redactPayments,
  unsentOf,
} from '../../store/redaction/redaction.ts'

const batch = 200
const dayMs = 24 * 3_600_000

export type RedactionWatch = { redacted(count: number): void; leftOut: OnSkippedRow }

// Removes personal data `days` after payments ended. Each call handles one batch and returns its size; after 0 it starts
// again with the oldest. Payments with anything open are skipped until the next round, so they do not block later ones.
export function createRedaction(db: Db, days: number, watch: RedactionWatch) {
  let after: EndedPayment | undefined
  return async (now: Date): Promise<number> => {
    const before = new Date(now.getTime() - days * dayMs)
    const found = await endedBefore(db, before, after, batch)
    const redacted = found.length > 0 ? await redactBatch(db, found, { before, now }, watch.leftOut) : 0
    after = found.at(-1)
    if (redacted > 0) watch.redacted(redacted)
    return found.length
  }
}

type Times = { before: Date; now: Date }

async function redactBatch(db: Db, keys: readonly PaymentKey[], times: Times, onSkipped: OnSkippedRow) {
  const redactSome = async (some: readonly PaymentKey[]) =>
    (await takePayments(db, selectByKeys(some), (tx, payments) => redactLocked(tx, payments, times))).length
  try {
    return await redactSome(keys)
  } catch (error) {
    if (isUnavailable(error)) throw error
    const skipped = createSkippedRows(onSkipped)
    const redacted = await bisectBatch(keys, redactSome, skipped)
    skipped.report()
    return redacted
  }
}

// The payments are locked, so no attempt or delivery is added meanwhile.
async function redactLocked(tx: Tx, locked: readonly PaymentWithMerchant[], { before, now }: Times) {
  const ended = locked.filter(
    ({ status, updated_at, redacted_at }) =>
      status !== 'awaiting_payment' && updated_at < before && redacted_at === null,
  )
  if (ended.length === 0) return []
  const found = await gather(tx, ended)
  const payments = ended.filter(payment => !found.open.has(paymentName(payment)))
  if (payments.length > 0) await redactFound(tx, payments, found, now)
  return payments
}

type Found = Awaited<ReturnType<typeof gather>>

// Why a payment keeps its personal data for now.
export type KeptBecause = 'not_ended' | 'refund' | 'attempt' | 'task' | 'dispute' | 'notification' | 'message'
// again: it was redacted before, and has been searched again. changed: another person's, whose texts named the person.
type Erased = 'erased' | 'again' | 'changed' | 'kept' | 'untouched'
export type ErasedPayment = PaymentKey & { done: Erased; keptBecause?: KeptBecause }

// What names the person, and what names him in a text in which the person was found.
export type PersonPatterns = { person: Person; own: RegExp; texts: RegExp }

// Removes the personal data of these payments of a merchant at once, at the request of the person. In a payment of another
// person, only the person is removed from texts. A payment that is locked at the moment is in none of the results, so the
// caller asks again.
export const erasePayments = (
  db: Db,
  merchant_id: string,
  references: readonly string[],
  patterns: PersonPatterns,
  now: Date,
): Promise<readonly ErasedPayment[]> =>
  takePayments(
    db,
    selectByKeys(references.map(tx_reference => ({ merchant_id, tx_reference }))),
    async (tx, locked): Promise<readonly ErasedPayment[]> => {
      if (locked.length === 0) return []
      const found = await gather(tx, locked)
      const own = await ownedBy(tx, patterns.person, locked, found)
      const others = locked.filter(payment => !own.has(paymentName(payment)))
      const named = await referencesNaming(tx, merchant_id, others, patterns.own)
      const results = locked.map(payment => {
        const isOwn = own.has(paymentName(payment))
        const isNamed = named.has(payment.tx_reference)
        const open = mayStillBePaid(payment, now) ? 'not_ended' : found.open.get(paymentName(payment))
        return { payment, isOwn, isNamed, keptBecause: isOwn || isNamed ? open : undefined }
      })
      const closed = results.filter(({ keptBecause }) => !keptBecause)
      const toRedact = closed.flatMap(({ payment, isOwn }) => (isOwn ? [payment] : []))
      if (toRedact.length > 0) await redactFound(tx, toRedact, found, now, patterns.person)
      const toChange = closed.flatMap(({ payment, isNamed }) => (isNamed ? [payment.tx_reference] : []))
      if (toChange.length > 0)
        for (const of of Object.values(paymentTexts))
          await replaceTexts(tx, of, merchant_id, ofPayments(toChange), patterns.texts)
      return results.map(({ payment: { tx_reference, redacted_at }, isOwn, isNamed, keptBecause }) => ({
        merchant_id,
        tx_reference,
        done: keptBecause
          ? ('kept' as const)
          : isOwn
            ? redacted_at
              ? ('again' as const)
              : ('erased' as const)
            : isNamed
              ? ('changed' as const)
              : ('untouched' as const),
        keptBecause,
      }))
    },
  )

// Those of these payments that are the person's, by name.
export async function ownedBy(
  tx: Tx,
  person: Person,
  payments: readonly Payment[],
  { attempts, messages }: { attempts: readonly Attempt[]; messages: readonly MessageName[] },
): Promise<ReadonlySet<string>> {
  const withTheirs = new Map(
    payments.map(payment => [
      paymentName(payment),
      { payment, attempts: [] as Attempt[], recipients: [] as (string | null)[] },
    ]),
  )
  for (const attempt of attempts) withTheirs.get(paymentName(attempt))?.attempts.push(attempt)
  for (const sent of await recipientsOf(tx, messages))
    withTheirs.get(paymentName(sent))?.recipients.push(sent.recipient, sent.mailbox)
  const own = [...withTheirs].filter(([, one]) =>
    isPaymentOf(person, one.payment, one.attempts, one.recipients),
  )
  return new Set(own.map(([name]) => name))
}

async function referencesNaming(
  tx: Tx,
  merchant_id: string,
  payments: readonly PaymentKey[],
  pattern: RegExp,
): Promise<ReadonlySet<string | null>> {
  const named = new Set<string | null>()
  if (payments.length === 0) return named
  const rows = ofPayments(payments.map(({ tx_reference }) => tx_reference))
  for (const of of Object.values(paymentTexts))
    for (const { reference, texts } of await readTexts(tx, of, merchant_id, rows))
      if (textsNaming(texts, pattern) !== undefined) named.add(reference)
  return named
}

const mayStillBePaid = ({ status, expires_at }: PaymentWithMerchant, now: Date) =>
  status === 'awaiting_payment' || (status !== 'paid' && expires_at > now)

async function gather(tx: Tx, payments: readonly PaymentWithMerchant[]) {
  const attempts = await attemptsOfMany(tx, payments)
  const deliveries = await deliveriesOf(tx, payments)
  const { messages, refunds } = await messagesAbout(tx, payments)
  const open = new Map<string, KeptBecause>()
  const keep = (keys: readonly PaymentKey[], because: KeptBecause) => {
    for (const key of keys) open.set(paymentName(key), because)
  }
  keep(await unsentOf(tx, messages), 'message')
  keep(deliveriesWaiting(deliveries), 'notification')
  for (const one of await openOf(tx, payments, attempts)) keep([one], one.because)
  keep(refunds.filter(isOpenRefund), 'refund')
  keep(attempts.filter(isUnresolved), 'attempt')
  const bodies = await bodiesOf(tx, payments)
  return { attempts, deliveries, messages, bodies, open }
}

// The names of all messages that the payers can have got, and the refunds that some of them are about.
export async function messagesAbout(tx: Tx, payments: readonly Payment[]) {
  const refunded = payments.filter(({ refunded_amount }) => refunded_amount !== null)
  const refunds = refunded.length > 0 ? await refundsOfPayments(tx, refunded) : undefined
  const messages = payments.flatMap(({ merchant_id, tx_reference }) => {
    const own = refunds?.get(paymentName({ merchant_id, tx_reference })) ?? []
    const references = own.map(refund => refund.refund_reference)
    return customerMessageIds(tx_reference, references).map(message_id => ({
      merchant_id,
      tx_reference,
      message_id,
    }))
  })
  return { messages, refunds: [...(refunds?.values() ?? [])].flat() }
}

const deliveriesWaiting = <D extends { next_try_at: Date | null }>(all: readonly D[]) =>
  all.filter(({ next_try_at }) => next_try_at !== null)

async function redactFound(
  tx: Tx,
  payments: readonly PaymentWithMerchant[],
  found: Found,
  now: Date,
  person?: Person,
) {
  const attempts = new Map<string, Attempt[]>(payments.map(payment => [paymentName(payment), []]))
  for (const attempt of found.attempts) attempts.get(paymentName(attempt))?.push(attempt)
  const spellings = new Map(
    payments.map(payment => [
      paymentName(payment),
      spellingsOf(
        payment,
        attempts.get(paymentName(payment))?.map(({ instrument }) => instrument),
        person,
      ),
    ]),
  )
  const isRedacted = (key: PaymentKey) => spellings.has(paymentName(key))
  const own = {
    ...found,
    attempts: found.attempts.filter(isRedacted),
    bodies: found.bodies.filter(isRedacted),
    deliveries: found.deliveries.filter(isRedacted),
    messages: found.messages.filter(isRedacted),
  }
  const patternOf = (key: PaymentKey) => spellings.get(paymentName(key))
  await redactPayments(tx, withoutPayers(payments, own, patternOf), now)
  await redactFreeTexts(tx, payments, own.attempts, patternOf)
}

type PatternOf = (key: PaymentKey) => RegExp | undefined

// The values to store.
const withoutPayers = (payments: readonly PaymentWithMerchant[], found: Found, patternOf: PatternOf) => ({
  ...found,
  payments: payments.map(payment => ({
    ...payment,
    payment_instrument: maskedOnly(payment.payment_instrument),
    ipn_url: payment.ipn_url && addressWithoutPayer(payment.ipn_url, patternOf(payment)),
  })),
  bodies: found.bodies.map(one => ({ ...one, body: bodyWithoutPayer(one.body, patternOf(one)) })),
  deliveries: found.deliveries.map(sent => ({
    ...sent,
    url: addressWithoutPayer(sent.url, patternOf(sent)),
  })),
})

// Of texts that people and providers wrote, only the payer is removed.
async function redactFreeTexts(
  tx: Tx,
  payments: readonly PaymentWithMerchant[],
  attempts: readonly Attempt[],
  patternOf: PatternOf,
) {
  for (const of of Object.values(freeTexts)) {
    const rows = await freeTextsOf(tx, of, payments, attempts)
    const changed = rows.flatMap(row => withoutPayerIn(row, of.columns, patternOf(row)) ?? [])
    await saveFreeTexts(tx, of, changed)
  }
}

// Undefined if no text has the payer.
function withoutPayerIn(
  row: FreeTextRow,
  columns: readonly string[],
  pattern: RegExp | undefined,
): FreeTextRow | undefined {
  const texts = columns.map(column => {
    const value = row[column] ?? null
    return [column, typeof value === 'string' ? withoutPayer(value, pattern) : value] as const
  })
  return texts.every(([column, value]) => value === (row[column] ?? null))
    ? undefined
    : { ...row, ...Object.fromEntries(texts) }
}
