import { type Command, InvalidArgumentError, Option } from 'commander'
import { stringify } from 'csv-stringify/sync'
import { z } from 'zod'
import { type OutletReport, outletReport, type ReportTotal } from '../actions/outletReport.ts'
import { formatMoney } from '../core/money.ts'
import type { Mode } from '../core/payment.ts'
import { listOutlets } from '../store/outlets.ts'
import type { ReportRow } from '../store/outletReport.ts'
import type { Answer, Cli } from './answer.ts'
import { CannotDo } from './failure.ts'
import { examples } from './help.ts'
import { merchantOf, type Opened, withRecords } from './records.ts'
import { dateTime, heading, table } from './terminal.ts'
import { modeOption, readOutletCode } from './values.ts'

const dayMs = 86_400_000
const maxDays = 366 // of one report

type Wish = { merchant: string; outlet?: string; mode: Mode; from: Date; to: Date; csv?: true }

export function addOutletReport(outlet: Command, cli: Cli) {
  outlet
    .command('report')
    .description(
      'Count and sum the payments of each outlet by status and way to pay. What counts is when a payment was ' +
        'created; days are days in UTC.',
    )
    .requiredOption('--merchant <id>', 'whose outlets')
    .option('--outlet <code>', 'only this outlet', readOutletCode)
    .addOption(modeOption('which payments').default('live'))
    .requiredOption(
      '--from <date>',
      'the first day (2026-05-01), or an instant (2026-05-01T08:00:00Z)',
      readFrom,
    )
    .requiredOption(
      '--to <date>',
      'the last day, itself included; or an instant, itself not included',
      readTo,
    )
    .addOption(new Option('--csv', 'as CSV, for a spreadsheet; without the totals'))
    .addHelpText(
      'after',
      examples(
        'tollgate outlet report --merchant 7c2k9m0x4f --from 2026-05-01 --to 2026-05-31',
        'tollgate outlet report --merchant 7c2k9m0x4f --from 2026-05-01 --to 2026-05-31 --csv > may.csv',
      ),
    )
    .action(async (wish: Wish) => {
      if (wish.csv && cli.json) throw new CannotDo('refused', 'Give --csv or --json, not both.')
      cli.print(await withRecords(records => report(records, wish)))
    })
}

const day = z.iso.date()
const instant = z.iso.datetime({ offset: true })
const isKnownYear = (date: Date) => date.getUTCFullYear() >= 2000 && date.getUTCFullYear() < 3000

function readTime(text: string, dayShiftMs: number): Date {
  const isDay = day.safeParse(text).success
  const date = new Date(isDay ? Date.parse(text) + dayShiftMs : text)
  if ((!isDay && !instant.safeParse(text).success) || !isKnownYear(date))
    throw new InvalidArgumentError(
      'It must be a day such as 2026-05-31, or an instant such as 2026-05-31T18:00:00Z.',
    )
  return date
}

const readFrom = (text: string) => readTime(text, 0)
const readTo = (text: string) => readTime(text, dayMs) // where the day ends

async function report({ db }: Opened, { merchant, outlet, mode, from, to, csv }: Wish): Promise<Answer> {
  if (from >= to) throw new CannotDo('refused', '--from must be before --to.')
  if (to.getTime() - from.getTime() > maxDays * dayMs)
    throw new CannotDo('refused', `One report covers at most ${maxDays} days: ask for a shorter time.`)
  const { merchant_id, name } = await merchantOf(db, merchant)
  if (outlet && !(await listOutlets(db, merchant_id)).some(({ code }) => code === outlet))
    throw new CannotDo('not_found', `${name} has no outlet ${outlet}: tollgate outlet list shows them.`)
  const found = await outletReport(db, { merchant_id, mode, outlet, from, until: to })
  const title = `${name}, ${mode} payments created from ${dateTime(from)} until ${dateTime(to)}`
  const data = {
    merchant_id,
    mode,
    from,
    until: to,
    rows: found.rows.map(rowData),
    totals: found.totals.map(rowData),
  }
  return { data, text: csv ? asCsv(found.rows) : asText(title, found) }
}

// Counts as numbers, money as text, as everywhere.
const rowData = <T extends ReportTotal>(row: T) => ({
  ...row,
  payments: Number(row.payments),
  total: formatMoney(row.total),
})

const none = '(none)'

// Names and codes may begin like a formula, which a spreadsheet would run.
function asCsv(rows: readonly ReportRow[]): string {
  const lines = rows.map(row => [
    row.outlet ?? none,
    row.outlet_name ?? '',
    row.status,
    row.payment_method ?? none,
    row.currency,
    String(row.payments),
    formatMoney(row.total),
  ])
  const columns = ['outlet', 'outlet_name', 'status', 'payment_method', 'currency', 'payments', 'total']
  return stringify(lines, { header: true, columns, escape_formulas: true }).trimEnd() // print ends the line
}

function asText(title: string, { rows, totals }: OutletReport): string {
  if (rows.length === 0) return `${title}\n\nThere are none: tollgate payment list shows the newest of all.`
  const columns = ['OUTLET', 'NAME', 'STATUS', 'METHOD', 'PAYMENTS', 'TOTAL'].map(column => ({
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
  const text = table(columns, lines).split('\n')
  text.splice(1 + rows.length, 0, '')
  return `${heading(title)}\n\n${text.join('\n')}`
}

const sums = ({ payments, currency, total }: ReportTotal) => [
  String(payments),
  `${currency} ${formatMoney(total)}`,
]
