import { stringify } from 'csv-stringify/sync'
import type { OutletReport, ReportTotal } from '../../actions/payments/outletReport.ts'
import { figureIn } from '../../core/money.ts'
import type { ReportRow } from '../../store/payments/reports.ts'
import { heading, table } from '../terminal.ts'

// Counts as numbers, money as text, as everywhere.
export const rowData = <T extends ReportTotal>(row: T) => ({
  ...row,
  payments: Number(row.payments),
  total: figureIn(row.total, row.currency),
})

const none = '(none)'

const columns = ['outlet', 'outlet_name', 'status', 'payment_method', 'currency', 'payments', 'total']

export const asCsv = (rows: readonly ReportRow[]) => csv(columns, rows.map(cells))

// Of several merchants: each line says whose it is.
export const asCsvOfAll = (reports: readonly { merchant_id: string; rows: readonly ReportRow[] }[]) =>
  csv(
    ['merchant_id', ...columns],
    reports.flatMap(({ merchant_id, rows }) => rows.map(row => [merchant_id, ...cells(row)])),
  )

const cells = (row: ReportRow) => [
  row.outlet ?? none,
  row.outlet_name ?? '',
  row.status,
  row.payment_method ?? none,
  row.currency,
  String(row.payments),
  figureIn(row.total, row.currency),
]

// Names and codes may begin like a formula, which a spreadsheet would run. Print ends the last line.
const csv = (names: string[], lines: string[][]) =>
  stringify(lines, { header: true, columns: names, escape_formulas: true }).trimEnd()

export function asText(title: string, { rows, totals }: OutletReport): string {
  if (rows.length === 0) return `${title}\n\nThere are none: tollgate payment list shows the newest of all.`
  const titles = ['OUTLET', 'NAME', 'STATUS', 'METHOD', 'PAYMENTS', 'TOTAL'].map(column => ({
    title: column,
    right: column === 'PAYMENTS' || column === 'TOTAL',
  }))
  const lines = [
    ...rows.map(row => [
      row.outlet ?? none,
      row.outlet_name ?? '',
      row.status,
      row.payment_method ?? none,
      ...sums(row),
    ]),
    ...totals.map(total => ['all', '', total.status, '', ...sums(total)]),
  ]
  const text = table(titles, lines).split('\n')
  text.splice(1 + rows.length, 0, '')
  return `${heading(title)}\n\n${text.join('\n')}`
}

const sums = ({ payments, currency, total }: ReportTotal) => [
  String(payments),
  `${currency} ${figureIn(total, currency)}`,
]
