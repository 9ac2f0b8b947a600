import { formatMoney } from '../../src/core/money.ts'
import type { Attempt } from '../../src/core/payment/attempt.ts'
import { isOpenRefund } from '../../src/core/refund/refund.ts'
import { faultsAtRest, faultsOf } from '../payments/walk/faults.ts'
import { faultsOfLedger } from '../payments/walk/ledgerFaults.ts'
import type { Entry } from '../payments/walk/provider.ts'
import { faultsOfRefunds } from '../payments/walk/refundFaults.ts'
import { deliveryFaults } from '../support/deliveries/recordingReceiver.ts'
import type { StoredPayment } from '../support/payments/paymentDatabase.ts'
import type { Evidence } from './evidence.ts'
import type { Sale } from './load.ts'

export const violationKinds = [
  'lost',
  'a refused request took effect',
  'double charge',
  'refund beyond its charge',
  'ledger',
  'illegal history',
  'event or delivery missing',
  'notification',
  'duplicate differs',
  'liveness', // work that does not end, or a node that does
] as const
export type ViolationKind = (typeof violationKinds)[number]
export type Violation = { kind: ViolationKind; text: string }

// Every violation in an installation at rest.
export function violationsIn(evidence: Evidence, now: Date): Violation[] {
  const found: Violation[] = []
  const add = (kind: ViolationKind, texts: readonly string[]) =>
    void found.push(...texts.map(text => ({ kind, text })))
  const byInvoice = groupBy(
    evidence.payments,
    ({ payment }) => `${payment.merchant_id} ${payment.invoice_id}`,
  )
  for (const sale of evidence.sales) {
    const stored = byInvoice.get(`${sale.merchant_id} ${sale.invoice_id}`) ?? []
    add('lost', lostOf(sale, stored))
    add('a refused request took effect', effectsOfRefused(sale, stored))
  }
  add('lost', strangers(evidence))
  const orders = groupBy(evidence.orders, ({ reference }) => reference)
  add('double charge', doubleCharges(evidence, orders))
  for (const stored of evidence.payments) {
    const own = new Map<string, Entry>()
    for (const { attempt_id } of stored.attempts)
      for (const order of orders.get(attempt_id) ?? []) own.set(attempt_id, order)
    const named = (texts: readonly string[]) => texts.map(text => `${nameOf(stored)}: ${text}`)
    add('refund beyond its charge', named(refundsBeyond(own)))
    add('illegal history', named(historyFaults(stored, own, now)))
    add('ledger', named(faultsOfLedger(stored, own)))
  }
  add('event or delivery missing', missingNotifications(evidence))
  const shops = evidence.shops.map(({ merchant_id, shop }) => ({ merchant_id, test: shop }))
  for (const text of deliveryFaults(evidence.deliveries, shops, evidence.received))
    add(text.endsWith('came with other bytes') ? 'duplicate differs' : 'notification', [text])
  return found
}

const nameOf = ({ payment }: StoredPayment) => `${payment.tx_reference} (${payment.invoice_id})`

export function groupBy<Item>(all: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const one of all) {
    const group = groups.get(keyOf(one))
    if (group) group.push(one)
    else groups.set(keyOf(one), [one])
  }
  return groups
}

// What was acknowledged exists once, under the reference of the answer, as it was requested.
function lostOf(sale: Sale, stored: readonly StoredPayment[]): string[] {
  const { invoice_id, references, total, refunds } = sale
  const faults: string[] = []
  const check = (holds: boolean, text: string) => void (holds || faults.push(`${invoice_id}: ${text}`))
  check(stored.length <= 1, `${stored.length} payments of one request`)
  check(new Set(references).size <= 1, `was answered with the references ${references.join(', ')}`)
  const [one] = stored
  for (const reference of references)
    check(one?.payment.tx_reference === reference, `acknowledged as ${reference}, which does not exist`)
  if (!one) return faults
  const { payment } = one
  check(formatMoney(payment.total, payment.currency) === total, `was requested with ${total}`)
  check(!sale.cancelAcknowledged || payment.status === 'cancelled', `cancelled, and is ${payment.status}`)
  check(!sale.paidAcknowledged || payment.status === 'paid', `answered as paid, and is ${payment.status}`)
  for (const { refund_id, amount, isAcknowledged } of refunds) {
    const rows = one.refunds.filter(row => row.refund_id === refund_id)
    check(rows.length <= 1, `${rows.length} refunds ${refund_id}`)
    check(!isAcknowledged || rows.length === 1, `the refund ${refund_id} was acknowledged and does not exist`)
    for (const row of rows)
      check(formatMoney(row.amount, row.currency) === amount, `the refund ${refund_id} has another amount`)
  }
  return faults
}

// Only final refusals: after a 503 the outcome is unknown, and the shop repeats the request.
function effectsOfRefused(
  { invoice_id, refused, refunds }: Sale,
  stored: readonly StoredPayment[],
): string[] {
  const payments =
    refused && stored.length > 0 ? [`${invoice_id} was refused (${refused}), and is stored`] : []
  return [
    ...payments,
    ...refunds
      .filter(
        one =>
          one.refused &&
          stored.some(({ refunds: rows }) => rows.some(row => row.refund_id === one.refund_id)),
      )
      .map(one => `the refund ${one.refund_id} was refused (${one.refused}), and is stored`),
  ]
}

// Payments that nobody requested, and orders of no attempt.
function strangers({ sales, payments, orders }: Evidence): string[] {
  const requested = new Set(sales.map(({ invoice_id }) => invoice_id))
  const attempts = new Set(payments.flatMap(one => one.attempts.map(({ attempt_id }) => attempt_id)))
  return [
    ...payments
      .filter(({ payment }) => !requested.has(payment.invoice_id))
      .map(one => `${nameOf(one)}: nobody requested it`),
    ...orders
      .filter(({ reference }) => !attempts.has(reference))
      .map(one => `${one.provider} has an order ${one.reference} of no attempt`),
  ]
}

function doubleCharges({ payments }: Evidence, orders: ReadonlyMap<string, readonly Entry[]>): string[] {
  return payments.flatMap(one => {
    const own = one.attempts.flatMap(({ attempt_id }) => orders.get(attempt_id) ?? [])
    const charges = own.reduce((sum, { charges: n }) => sum + n, 0)
    return charges > 1 ? [`${nameOf(one)}: ${charges} charges`] : []
  })
}

const sumOf = (all: readonly { amount: bigint }[]) => all.reduce((sum, { amount }) => sum + amount, 0n)

function refundsBeyond(orders: ReadonlyMap<string, Entry>): string[] {
  return [...orders.values()].flatMap(({ reference, amount, charges, refunds }) => {
    const [back, taken] = [sumOf(refunds), charges > 0 ? amount : 0n]
    return back > taken ? [`${reference}: ${back} went back of ${taken}`] : []
  })
}

// A refund whose outcome the provider cannot tell stays unknown, with a task for the operator.
function historyFaults(stored: StoredPayment, orders: ReadonlyMap<string, Entry>, now: Date): string[] {
  const { attempts, refunds, tasks } = stored
  const isExplained = (id: string) =>
    tasks.some(task => task.kind === 'refund_unclear' && task.attempt_id === id)
  const open = refunds.filter(one => isOpenRefund(one) && !isExplained(one.attempt_id))
  // A checkout that nobody paid yet waits for its customer.
  const isUntouched = attempts.length === 0
  const atRest = faultsAtRest(stored, orders, now).filter(
    text => !(isUntouched && text === 'awaiting for ever'),
  )
  return [
    ...faultsOf(stored, orders),
    ...atRest,
    ...faultsOfRefunds(stored, orders, false),
    ...open.map(({ refund_reference, state }) => `${refund_reference} has not ended: ${state}`),
    ...attempts
      .filter(one => hasFailedTooEarly(one, orders))
      .map(one => `${one.attempt_id} failed while it can be paid`),
  ]
}

const hasFailedTooEarly = ({ attempt_id, state }: Attempt, orders: ReadonlyMap<string, Entry>) =>
  state === 'failed' && orders.get(attempt_id)?.truth === 'pending'

// Each change of status has its notification, and each notification that is sent has its delivery.
function missingNotifications({ payments, deliveries }: Evidence): string[] {
  const byPayment = groupBy(deliveries, ({ tx_reference }) => tx_reference)
  return payments.flatMap(one => {
    const own = byPayment.get(one.payment.tx_reference) ?? []
    const changes = one.events.filter(({ kind }) => kind === 'status_changed')
    const statuses = own.filter(({ type = 'status' }) => type === 'status')
    const faults: string[] = []
    const [changed, notified] = [
      changes.map(({ to_status }) => to_status),
      statuses.map(({ status }) => status),
    ]
    if (!isSameBag(changed, notified))
      faults.push(`changes ${changed.join()}, notifications ${notified.join()}`)
    for (const { refund_reference, state } of one.refunds)
      if (!own.some(({ type, body }) => type === `refund.${state}` && body.includes(refund_reference)))
        faults.push(`no notification that the refund ${refund_reference} is ${state}`)
    for (const { sequence, tries } of own) if (tries === null) faults.push(`N${sequence} has no delivery`)
    return faults.map(text => `${nameOf(one)}: ${text}`)
  })
}

function isSameBag(one: readonly (string | null)[], other: readonly (string | null)[]): boolean {
  const rest = [...other]
  for (const each of one) {
    const at = rest.indexOf(each)
    if (at === -1) return false
    rest.splice(at, 1)
  }
  return rest.length === 0
}
