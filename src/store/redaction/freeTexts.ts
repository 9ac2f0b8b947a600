import { join, raw } from 'sql-template-tag'
import type { Attempt } from '../../core/payment/attempt.ts'
import { type Query, sql, type Tx } from '../db.ts'
import { ofMerchants } from '../groupStatement.ts'
import { type PaymentKey, unnestPaymentKeys } from '../payments/paymentKeys.ts'

// Texts that people, shops and providers write about payments: they may name a payer. Texts that belong to one payer, such
// as the number of a payment, are in redaction.ts.

type KeyColumn = { name: string; type: 'text' | 'integer' }
export type FreeTextTable = {
  table: string
  key: readonly KeyColumn[] // after merchant_id
  columns: readonly string[]
  ofPayment?: 'tx_reference' | 'attempt_id' // the indexed column that names the payment
}

const text = (name: string): KeyColumn => ({ name, type: 'text' })
const count = (name: string): KeyColumn => ({ name, type: 'integer' })

export const freeTexts = {
  events: {
    table: 'events',
    key: [text('tx_reference'), count('sequence')],
    columns: ['reason'],
    ofPayment: 'tx_reference',
  },
  tasks: {
    table: 'tasks',
    key: [text('attempt_id'), text('kind')],
    columns: ['note', 'closed_note', 'owner_note'],
    ofPayment: 'attempt_id',
  },
  refunds: {
    table: 'refunds',
    key: [text('refund_reference')],
    columns: ['reason', 'state_reason', 'provider_code', 'recorded_reference'],
    ofPayment: 'tx_reference',
  },
  approvals: {
    table: 'refund_approvals',
    key: [text('refund_reference')],
    columns: ['reason', 'decision_reason'],
    ofPayment: 'tx_reference',
  },
  reversals: {
    table: 'reversals',
    key: [text('attempt_id'), text('reversal_id')],
    columns: ['reason'],
    ofPayment: 'attempt_id',
  },
  disputes: {
    table: 'disputes',
    key: [text('attempt_id'), text('dispute_id')],
    columns: ['reason'],
    ofPayment: 'attempt_id',
  },
} as const satisfies Record<string, FreeTextTable>

export type FreeTextRow = PaymentKey & Record<string, string | number | null>

const names = (columns: readonly string[], of: string) =>
  join(
    columns.map(column => raw(`${of}.${column}`)),
    ', ',
  )

// The rows of one table about these payments.
export const freeTextsOf = (
  tx: Tx,
  { table, key, columns, ofPayment }: FreeTextTable,
  payments: readonly PaymentKey[],
  attempts: readonly Pick<Attempt, 'merchant_id' | 'attempt_id'>[],
) =>
  tx.rows<FreeTextRow>(sql`
    select o.merchant_id, o.tx_reference, ${names([...key.map(({ name }) => name), ...columns], 'o')}
    from ${ofPayment === 'tx_reference' ? unnestPaymentKeys(payments) : unnestAttempts(attempts)}
      join ${raw(table)} o on o.merchant_id = k.merchant_id
        and ${raw(ofPayment === 'tx_reference' ? 'o.tx_reference = k.tx_reference' : 'o.attempt_id = k.attempt_id')}
    where ${ofMerchants('o', payments)}`)

const unnestAttempts = (attempts: readonly Pick<Attempt, 'merchant_id' | 'attempt_id'>[]) => sql`
  unnest(${attempts.map(a => a.merchant_id)}::text[], ${attempts.map(a => a.attempt_id)}::text[])
    as k (merchant_id, attempt_id)`

// Stores the texts of these rows.
export async function saveFreeTexts(
  tx: Tx,
  of: Pick<FreeTextTable, 'table' | 'key' | 'columns'>,
  rows: readonly FreeTextRow[],
  typeOf: (column: string) => 'text' | 'jsonb' | 'bytea' = () => 'text',
) {
  if (rows.length === 0) return
  const { table, key, columns } = of
  const list = (name: string, type: string): Query =>
    sql`${rows.map(row => row[name] ?? null)}::${raw(`${type}[]`)}`
  const all = [text('merchant_id'), ...key, ...columns.map(text)]
  // A text of bytes is only removed, never changed.
  const value = (column: string) =>
    typeOf(column) === 'bytea'
      ? `case when r.${column} is not null then o.${column} end`
      : `r.${column}::${typeOf(column)}`
  await tx.rows(sql`
    update ${raw(table)} o set ${raw(columns.map(column => `${column} = ${value(column)}`).join(', '))}
    from unnest(${join(
      all.map(({ name, type }) => list(name, type)),
      ', ',
    )}) as r (${raw(all.map(({ name }) => name).join(', '))})
    where o.merchant_id = r.merchant_id and ${raw(key.map(({ name }) => `o.${name} = r.${name}`).join(' and '))}
      and ${ofMerchants('o', rows)}`)
}
