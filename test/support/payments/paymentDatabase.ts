import { randomBytes } from 'node:crypto'
import { onboard } from '../../../src/actions/merchants/onboard.ts'
import type { Attempt } from '../../../src/core/payment/attempt.ts'
import type { DisputeRecord, PaymentEvent, ReversalRecord, Task } from '../../../src/core/payment/change.ts'
import type { NewPayment, Payment } from '../../../src/core/payment/payment.ts'
import type { Transfer } from '../../../src/core/ledger/transfer.ts'
import type { Refund } from '../../../src/core/refund/refund.ts'
import { newReference, newToken } from '../../../src/runtime/ids.ts'
import { givenMasterKeys } from '../../../src/start/masterKeys.ts'
import { type Db, openDb, sql, type Tx } from '../../../src/store/db.ts'
import { insertAttempts, saveAttempts } from '../../../src/store/payments/attempts.ts'
import { storePayments } from '../../../src/store/payments/payments.ts'
import { migratedDatabase, query } from '../database/database.ts'
import { after, aPayment, hours } from './rows.ts'

export type PaymentDatabase = {
  db: Db
  url: string
  merchant_id: string
  addPayments(count: number, now: Date, expiresMs?: () => number): Promise<Payment[]>
  read(references: string[]): Promise<StoredPayment[]>
  close(): Promise<void>
}
export type StoredPayment = {
  payment: Payment
  attempts: Attempt[]
  events: PaymentEvent[]
  tasks: Task[]
  reversals: ReversalRecord[]
  disputes: DisputeRecord[]
  refunds: Refund[]
  transfers: Transfer[]
}

const noWaitForDisk = `do $$ begin
  execute format('alter database %I set synchronous_commit = off', current_database());
end $$`

// A migrated database with one merchant. It does not wait for the disk, because these tests do not test power cuts.
export async function openPaymentDatabase(poolSize = 4): Promise<PaymentDatabase> {
  const database = await migratedDatabase()
  await query(database.url, noWaitForDisk)
  const db = openDb(database.url, poolSize)
  const { merchant_id } = await onboard(
    db,
    givenMasterKeys([randomBytes(32)]),
    'Ama Shop',
    ['test'],
    new Date(),
  )
  return {
    db,
    url: database.url,
    merchant_id,
    async addPayments(count, now, expiresMs = () => hours(1)) {
      const payments = Array.from({ length: count }, () => newPayment(merchant_id, now, expiresMs()))
      await storePayments(db, payments)
      return payments
    },
    read: references => readPayments(db, merchant_id, references),
    async close() {
      await db.end()
      await database.drop()
    },
  }
}

export const insertAttempt = (tx: Tx, attempt: Attempt) => tx.rows(insertAttempts([attempt]))
export const saveAttempt = (tx: Tx, attempt: Attempt) => tx.rows(saveAttempts([attempt]))

export function newPayment(merchant_id: string, now: Date, expiresMs: number): Payment {
  const tx_reference = newReference(now)
  const dates = { created_at: now, updated_at: now, expires_at: after(expiresMs, now) }
  const tx_token = newToken(merchant_id, now)
  return aPayment({ merchant_id, tx_reference, tx_token, invoice_id: tx_reference, ...dates })
}

// All rows of some payments, in one snapshot.
export async function readPayments(
  db: Pick<Db, 'transaction'>,
  merchant_id: string,
  references: string[],
): Promise<StoredPayment[]> {
  const rows = await db.transaction(async tx => {
    await tx.rows(sql`set transaction isolation level repeatable read`)
    const which = sql`where merchant_id = ${merchant_id} and tx_reference = any(${references})`
    return {
      payments: await tx.rows<Payment>(sql`select * from payments ${which}`),
      attempts: await tx.rows<Attempt>(sql`select * from attempts ${which} order by number`),
      events: await tx.rows<PaymentEvent>(sql`select * from events ${which} order by sequence`),
      tasks: await tx.rows<Task>(sql`select * from tasks ${which} order by created_at`),
      reversals: await tx.rows<ReversalRecord>(sql`select * from reversals ${which} order by reversal_id`),
      disputes: await tx.rows<DisputeRecord>(sql`select * from disputes ${which} order by dispute_id`),
      refunds: await tx.rows<Refund>(sql`select * from refunds ${which} order by created_at`),
      transfers: await tx.rows<Transfer & { tx_reference: string }>(sql`select * from transfers ${which}`),
    }
  })
  const of = {
    attempts: byPayment(rows.attempts),
    events: byPayment(rows.events),
    tasks: byPayment(rows.tasks),
    reversals: byPayment(rows.reversals),
    disputes: byPayment(rows.disputes),
    refunds: byPayment(rows.refunds),
    transfers: byPayment(rows.transfers),
  }
  return rows.payments.map(payment => ({
    payment,
    attempts: of.attempts(payment),
    events: of.events(payment),
    tasks: of.tasks(payment),
    reversals: of.reversals(payment),
    disputes: of.disputes(payment),
    refunds: of.refunds(payment),
    transfers: of.transfers(payment),
  }))
}

function byPayment<Row extends Pick<NewPayment, 'tx_reference'>>(all: readonly Row[]) {
  const groups = new Map<string, Row[]>()
  for (const row of all) {
    const group = groups.get(row.tx_reference)
    if (group) group.push(row)
    else groups.set(row.tx_reference, [row])
  }
  return ({ tx_reference }: Payment): Row[] => groups.get(tx_reference) ?? []
}
