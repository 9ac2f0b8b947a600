import { join, raw } from 'sql-template-tag'
import {
  addressWithoutPayer,
  textsNaming,
  valueWithoutPayer,
  withoutPayer,
} from '../../core/redaction/redact.ts'
import { type Query, sql, type Tx } from '../db.ts'
import { type FreeTextRow, type FreeTextTable, freeTexts, saveFreeTexts } from './freeTexts.ts'

// The search for one person in everything that no index has. Each table is read once, in bounded batches by its key.

export type TracedTable = Pick<FreeTextTable, 'table' | 'key' | 'columns'> & {
  isOpen?: string // a condition: the text is still needed
  hasNoPayment?: boolean
}

const text = (name: string) => ({ name, type: 'text' }) as const
const sequence = [text('tx_reference'), { name: 'sequence', type: 'integer' }] as const

// Texts in which only the person is replaced. They may be about payments of other people.
export const notes: readonly TracedTable[] = [
  freeTexts.events,
  { ...freeTexts.tasks, isOpen: 'closed_at is null' },
  { ...freeTexts.refunds, isOpen: "state not in ('succeeded', 'failed')" },
  { ...freeTexts.approvals, isOpen: "state = 'waiting'" },
  freeTexts.reversals,
  { ...freeTexts.disputes, isOpen: "state = 'open'" },
  { table: 'deliveries', key: sequence, columns: ['last_words', 'last_answer'] },
  {
    table: 'tries',
    key: [...sequence, { name: 'try', type: 'integer' }],
    columns: ['words', 'answer'],
  },
  { table: 'messages', key: [text('message_id')], columns: ['words'] },
  { table: 'sandbox_charges', key: [text('reference')], columns: ['note'], hasNoPayment: true },
  {
    table: 'refused_requests',
    key: [text('request_id')],
    columns: ['path', 'message', 'hint', 'fields'],
    hasNoPayment: true,
  },
]

// Texts of a payment that may name other people than its payer, such as an extra field with the number of a cashier.
export const paymentTexts = {
  payments: {
    table: 'payments',
    key: [text('tx_reference')],
    columns: [
      'name',
      'description',
      'line_items',
      'extra',
      'success_url',
      'cancelled_url',
      'deferred_url',
      'ipn_url',
      'psp_response_msg',
    ],
  },
  attempts: {
    table: 'attempts',
    key: [text('attempt_id')],
    columns: ['redirect_url', 'qr', 'step', 'provider_text', 'psp_response_msg'],
  },
  notifications: { table: 'notifications', key: sequence, columns: ['body'] },
  deliveries: { table: 'deliveries', key: sequence, columns: ['url'] },
} as const satisfies Record<string, TracedTable>

const { payments, attempts, notifications, deliveries } = paymentTexts

// Rows of payments in which the person may be the payer, or be named in a text.
export const paymentRows: readonly TracedTable[] = [
  { table: 'messages', key: [text('message_id')], columns: ['recipient', 'mailbox'] },
  { ...attempts, columns: ['instrument', 'given', ...attempts.columns] },
  notifications,
  deliveries,
  {
    ...payments,
    columns: ['number', 'email', 'pymt_instrument', 'payment_instrument', ...payments.columns],
  },
]

const bytes = new Set(['last_answer', 'answer'])
const json = new Set(['hint', 'fields', 'line_items', 'extra', 'step'])

export type Trace = { key: string[]; tx_reference: string | null; is_open: boolean; is_found: boolean }

const keyFrom = ({ key }: TracedTable, values: readonly string[]): Query =>
  sql`(${raw(key.map(({ name }) => name).join(', '))}) > (${join(
    key.map(({ type }, at) => sql`${values[at]}::${raw(type)}`),
    ', ',
  )})`

const textIn = (columns: readonly string[]) =>
  raw(
    `concat_ws(e'\\n', ${columns
      .map(column => (bytes.has(column) ? `encode(${column}, 'escape')` : `${column}::text`))
      .join(', ')})`,
  )

// Of one merchant's next rows behind a key, those whose texts contain the rough pattern, and the last row, behind which the
// next batch begins. None: the end of the table. The caller reads the rows that are found, and decides by the exact pattern.
export const findTraces = (
  tx: Tx,
  of: TracedTable,
  { merchant_id, behind, pattern, limit }: FindTraces,
): Promise<Trace[]> => {
  const keys = of.key.map(({ name }) => name)
  return tx.rows<Trace>(sql`
    with page as (
      select array[${raw(keys.map(name => `${name}::text`).join(', '))}] as key,
        ${raw(of.hasNoPayment ? 'null::text' : 'tx_reference')} as tx_reference,
        ${raw(of.isOpen ?? 'false')} as is_open, ${textIn(of.columns)} ~* ${pattern} as is_found,
        row_number() over (order by ${raw(keys.map(key => `${key} desc`).join(', '))}) as from_end
      from (select * from ${raw(of.table)} where merchant_id = ${merchant_id}
        and ${behind.length > 0 ? keyFrom(of, behind) : sql`true`}
        order by ${raw(keys.join(', '))} limit ${limit}) as t)
    select key, tx_reference, is_open, is_found from page where is_found or from_end = 1 order by from_end desc`)
}

type FindTraces = {
  merchant_id: string
  behind: readonly string[] // empty: from the beginning
  pattern: string
  limit: number
}

const inKeys = (of: TracedTable, keys: readonly (readonly string[])[]) => sql`
  (${raw(of.key.map(({ name }) => name).join(', '))}) in (${join(
    keys.map(
      key =>
        sql`(${join(
          of.key.map(({ type }, at) => sql`${key[at]}::${raw(type)}`),
          ', ',
        )})`,
    ),
    ', ',
  )})`

export const withKeys = (of: TracedTable, traces: readonly Pick<Trace, 'key'>[]) =>
  inKeys(
    of,
    traces.map(({ key }) => key),
  )

export const ofPayments = (references: readonly string[]) => sql`tx_reference = any(${references}::text[])`

// The texts of some rows of a merchant, each value as it is meant: JSON as what it contains, bytes as text.
export async function readTexts(tx: Tx, of: TracedTable, merchant_id: string, rows: Query) {
  const read = await tx.rows<TextRow>(sql`
    select ${raw(of.hasNoPayment ? 'null::text' : 'tx_reference')} as reference,
      ${raw(of.columns.map(column => `${readable(column)} as ${column}`).join(', '))}
    from ${raw(of.table)} where merchant_id = ${merchant_id} and ${rows}`)
  return read.map(({ reference, ...texts }) => ({
    reference,
    texts: Object.fromEntries(Object.entries(texts).map(([column, value]) => [column, meant(column, value)])),
  }))
}

type TextRow = { reference: string | null } & Record<string, string | null>

// Answers may contain NUL, which no text of PostgreSQL can.
const readable = (column: string) =>
  bytes.has(column) ? `encode(${column}, 'base64')` : json.has(column) ? `${column}::text` : column

function meant(column: string, value: string | null): unknown {
  if (value === null) return null
  if (bytes.has(column)) return Buffer.from(value, 'base64').toString()
  return json.has(column) || column === 'body' ? (JSON.parse(value) as unknown) : value
}

// Replaces the person in some rows of a merchant. They are locked while that is done, because a worker may be writing them.
export async function replaceTexts(
  tx: Tx,
  of: TracedTable,
  merchant_id: string,
  rows: Query,
  pattern: RegExp,
) {
  const found = await tx.rows<FreeTextRow>(sql`
    select merchant_id, ${raw(of.key.map(({ name }) => name).join(', '))},
      ${raw(of.columns.map(column => `${readable(column)} as ${column}`).join(', '))}
    from ${raw(of.table)} where merchant_id = ${merchant_id} and ${rows} for update`)
  const changed = found.flatMap(row => {
    const texts = of.columns.map(column => [column, replaced(column, row[column] ?? null, pattern)] as const)
    return texts.every(([column, value]) => value === (row[column] ?? null))
      ? []
      : [{ ...row, ...Object.fromEntries(texts) }]
  })
  await saveFreeTexts(tx, of, changed, columnTypes)
  return changed.length
}

const columnTypes = (column: string) => (bytes.has(column) ? 'bytea' : json.has(column) ? 'jsonb' : 'text')

const isAddress = (column: string) => column === 'url' || column.endsWith('_url')

// The answer of a server is removed whole: it may have any form and any character set. The address of a page stays usable.
function replaced(column: string, value: string | number | null, pattern: RegExp) {
  if (typeof value !== 'string') return value
  if (isAddress(column)) return addressWithoutPayer(value, pattern)
  const meaning = meant(column, value)
  if (textsNaming(meaning, pattern) === undefined) return value
  if (bytes.has(column)) return null
  return typeof meaning === 'string'
    ? withoutPayer(meaning, pattern)
    : JSON.stringify(valueWithoutPayer(meaning, pattern))
}
