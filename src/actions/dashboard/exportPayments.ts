import { stringify } from 'csv-stringify/sync'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Actor } from '../../core/access/audit.ts'
import { exportEntry } from '../../core/access/auditEntries.ts'
import { maskEmail, maskInstrument, maskName, maskPhone } from '../../core/mask.ts'
import { figureIn } from '../../core/money.ts'
import type { Payment } from '../../core/payment/payment.ts'
import type { Db } from '../../store/db.ts'
import { audited } from '../access/audit.ts'
import { allPaymentsOf, type MerchantList } from '../payments/merchantPayments.ts'

const rowsAtOnce = 500
const batchDeadlineMs = 10_000
const pauseMs = 200 // while the gateway is overloaded
// Between two batches, however long the overload lasts: proxies close a connection after 20 s of silence, and CSV has no
// bytes that mean nothing.
const maxPausedMs = 10_000

export type ExportOptions = {
  isMasked: boolean
  outlets: ReadonlyMap<string, string>
  isOverloaded(): boolean
  maxPausedMs?: number
}

// Records who exports what. The search may be a number or an address, so only that there was one is recorded.
export const recordExport = (db: Db, list: MerchantList, isMasked: boolean, actor: Actor) =>
  audited(db, actor, list.now, (_, record) => {
    const { statuses, methods, outlets, from, to, q } = list.filter
    const filter = { statuses, methods, outlets, from, to, hasSearch: q !== '', isMasked, mode: list.mode }
    return record(exportEntry(list.merchant_id, filter))
  })

const columns = [
  'created',
  'reference',
  'invoice',
  'status',
  'reason',
  'currency',
  'amount',
  'refunded',
  'method',
  'instrument',
  'provider_reference',
  'paid',
  'outlet',
  'outlet_name',
  'customer',
  'phone',
  'email',
  'description',
]

// The payments of the list as CSV, in batches, newest first. Each batch has its own deadline, and none is read before it is
// asked for.
export async function* paymentsCsv(
  db: Db,
  list: MerchantList,
  options: ExportOptions,
): AsyncGenerator<string> {
  yield asLines([columns])
  const inTime = () => db.withDeadline(performance.now() + batchDeadlineMs)
  for await (const payments of allPaymentsOf(inTime, list, rowsAtOnce)) {
    yield asLines(payments.map(payment => cellsOf(payment, options)))
    const until = performance.now() + (options.maxPausedMs ?? maxPausedMs)
    while (options.isOverloaded() && performance.now() < until) await sleep(pauseMs)
  }
}

// A spreadsheet would run a text that begins like a formula, so such a text gets an apostrophe.
const asLines = (rows: readonly (readonly string[])[]) => stringify([...rows], { escape_formulas: true })

function cellsOf(payment: Payment, { isMasked, outlets }: ExportOptions): string[] {
  const { currency, total, outlet, number, pymt_instrument, email, name } = payment
  const back = (payment.refunded_amount ?? 0n) + (payment.reversed_amount ?? 0n)
  const phone = number ?? pymt_instrument
  return [
    payment.created_at.toISOString(),
    payment.tx_reference,
    payment.invoice_id,
    payment.status,
    payment.status_reason,
    currency,
    figureIn(total, currency),
    back > 0n ? figureIn(back, currency) : '',
    payment.payment_method ?? '',
    maskInstrument(payment.payment_instrument) ?? '',
    payment.payment_reference ?? '',
    payment.status === 'paid' ? (payment.payment_time?.toISOString() ?? '') : '',
    outlet ?? '',
    outlet ? (outlets.get(outlet) ?? '') : '',
    name ? (isMasked ? maskName(name) : name) : '',
    phone ? (isMasked ? maskPhone(phone) : phone) : '',
    email ? (isMasked ? maskEmail(email) : email) : '',
    payment.description ?? '',
  ]
}
