import { stringify } from 'csv-stringify/sync'
import { type OutletReport, outletReport, type ReportTotal } from '../../actions/payments/outletReport.ts'
import type { Mode } from '../../core/mode.ts'
import { figureIn } from '../../core/money.ts'
import type { Db } from '../../store/db.ts'
import { listMerchants, listOutlets, type Merchant } from '../../store/merchants/merchants.ts'
import type { ReportRow } from '../../store/payments/reports.ts'
import { type CommandContext, requireMerchant } from '../database.ts'
import { notFound, refused } from '../failure.ts'
import type { CliCommand } from '../cliCommand.ts'
import type { Output } from '../output.ts'
import { dateTime, heading, table } from '../terminal.ts'
import { fromOption, modeOption, readOutletCode, requirePeriod, toOption } from '../values.ts'

const dayMs = 86_400_000
const maxDays = 366 // of one report
const none = '(none)'

type Options = { merchant?: string; outlet?: string; mode: Mode; from: Date; to: Date; csv?: true }

export function addOutletReport(outlet: CliCommand) {
  outlet
    .command('report')
    .description(
      'Count and sum the payments of each outlet by status and payment method, by the time of their creation. Days ' +
        'are in UTC.',
    )
    .option('--merchant <id>', 'only this merchant; without it every merchant, each with its own report')
    .option('--outlet <code>', 'only this outlet of the merchant', readOutletCode)
    .addOption(modeOption('which payments').default('live'))
    .addOption(fromOption().makeOptionMandatory())
    .addOption(toOption().makeOptionMandatory())
    .option('--csv', 'as CSV, for a spreadsheet; without the totals')
    .examples(
      'tollgate outlet report --from 2026-05-01 --to 2026-05-31',
      'tollgate outlet report --merchant 7c2k9m0x4f --from 2026-05-01 --to 2026-05-31',
      'tollgate outlet report --merchant 7c2k9m0x4f --from 2026-05-01 --to 2026-05-31 --csv > may.csv',
    )
    .runWithDatabase((context, options: Options) => {
      if (options.csv && outlet.json) throw refused('Give --csv or --json, not both.')
      return reportAll(context, options)
    })
}

async function reportAll({ db }: CommandContext, options: Options): Promise<Output> {
  const { merchant, outlet, mode, from, to, csv } = options
  requirePeriod(from, to)
  if (to.getTime() - from.getTime() > maxDays * dayMs)
    throw refused(`One report covers at most ${maxDays} days: give a shorter period.`)
  if (outlet && !merchant) throw refused('Give --merchant with --outlet: merchants may use the same codes.')
  const reports = []
  for (const one of merchant ? [await requireMerchant(db, merchant)] : await listMerchants(db))
    reports.push(await reportOf(db, one, options))
  const text = reports.map(({ title, report }) => asText(title, report)).join('\n\n')
  const [first] = reports
  if (merchant && first)
    return { data: { mode, from, until: to, ...first.data }, text: csv ? asCsv(first.report.rows) : text }
  const all = reports.map(({ data, report }) => ({ merchant_id: data.merchant_id, rows: report.rows }))
  const data = { mode, from, until: to, reports: reports.map(one => one.data) }
  return { data, text: csv ? asCsvWithMerchant(all) : text || 'There are no merchants yet.' }
}

async function reportOf(db: Db, { merchant_id, name }: Merchant, { outlet, mode, from, to }: Options) {
  if (outlet && !(await listOutlets(db, merchant_id)).some(({ code }) => code === outlet))
    throw notFound(`${name} has no outlet ${outlet}: tollgate outlet list shows them.`)
  const report = await outletReport(db, { merchant_id, mode, outlet, from, until: to })
  const title = `${name}, ${mode} payments created from ${dateTime(from)} until ${dateTime(to)}`
  const data = { merchant_id, rows: report.rows.map(rowData), totals: report.totals.map(rowData) }
  return { title, report, data }
}

// Counts are numbers, amounts are text, as in the API.
const rowData = <T extends ReportTotal>(row: T) => ({
  ...row,
  payments: Number(row.payments),
  total: figureIn(row.total, row.currency),
})

const columns = ['outlet', 'outlet_name', 'status', 'payment_method', 'currency', 'payments', 'total']

const asCsv = (rows: readonly ReportRow[]) => csv(columns, rows.map(cells))

const asCsvWithMerchant = (reports: readonly { merchant_id: string; rows: readonly ReportRow[] }[]) =>
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

// A name or code may start like a formula, which a spreadsheet would run. printOutput adds the last line break.
const csv = (names: string[], lines: string[][]) =>
  stringify(lines, { header: true, columns: names, escape_formulas: true }).trimEnd()

function asText(title: string, { rows, totals }: OutletReport): string {
  if (rows.length === 0)
    return `${title}\n\nThere are none: tollgate payment list shows the newest of all merchants.`
  const titles = ['OUTLET', 'NAME', 'STATUS', 'METHOD', 'PAYMENTS', 'TOTAL']
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
  const text = table(titles, lines, ['PAYMENTS', 'TOTAL']).split('\n')
  text.splice(1 + rows.length, 0, '')
  return `${heading(title)}\n\n${text.join('\n')}`
}

const sums = ({ payments, currency, total }: ReportTotal) => [
  String(payments),
  `${currency} ${figureIn(total, currency)}`,
]
