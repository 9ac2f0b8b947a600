import { type Command, Option } from 'commander'
import { outletReport } from '../../actions/payments/outletReport.ts'
import type { Mode } from '../../core/mode.ts'
import type { Db } from '../../store/db.ts'
import { listMerchants, listOutlets, type Merchant } from '../../store/merchants/merchants.ts'
import { merchantOf, type Opened, withDatabase } from '../database.ts'
import { CannotDo } from '../failure.ts'
import { examples } from '../help.ts'
import type { Cli, Output } from '../output.ts'
import { dateTime } from '../terminal.ts'
import { fromOption, modeOption, readOutletCode, toOption } from '../values.ts'
import { asCsv, asCsvOfAll, asText, rowData } from './reportText.ts'

const dayMs = 86_400_000
const maxDays = 366 // of one report

type Wish = { merchant?: string; outlet?: string; mode: Mode; from: Date; to: Date; csv?: true }

export function addOutletReport(outlet: Command, cli: Cli) {
  outlet
    .command('report')
    .description(
      'Count and sum the payments of each outlet by status and way to pay. What counts is when a payment was ' +
        'created; days are days in UTC.',
    )
    .option('--merchant <id>', 'only those of this merchant; otherwise each merchant by itself')
    .option('--outlet <code>', 'only this outlet of the merchant', readOutletCode)
    .addOption(modeOption('which payments').default('live'))
    .addOption(fromOption().makeOptionMandatory())
    .addOption(toOption().makeOptionMandatory())
    .addOption(new Option('--csv', 'as CSV, for a spreadsheet; without the totals'))
    .addHelpText(
      'after',
      examples(
        'tollgate outlet report --from 2026-05-01 --to 2026-05-31',
        'tollgate outlet report --merchant 7c2k9m0x4f --from 2026-05-01 --to 2026-05-31',
        'tollgate outlet report --merchant 7c2k9m0x4f --from 2026-05-01 --to 2026-05-31 --csv > may.csv',
      ),
    )
    .action(async (wish: Wish) => {
      if (wish.csv && cli.json) throw new CannotDo('refused', 'Give --csv or --json, not both.')
      cli.print(await withDatabase(database => report(database, wish)))
    })
}

async function report({ db }: Opened, wish: Wish): Promise<Output> {
  const { merchant, outlet, mode, from, to, csv } = wish
  if (from >= to) throw new CannotDo('refused', '--from must be before --to.')
  if (to.getTime() - from.getTime() > maxDays * dayMs)
    throw new CannotDo('refused', `One report covers at most ${maxDays} days: ask for a shorter time.`)
  if (outlet && !merchant)
    throw new CannotDo('refused', "An outlet's code is its merchant's: give --merchant, too.")
  const reports = []
  for (const one of merchant ? [await merchantOf(db, merchant)] : await listMerchants(db))
    reports.push(await reportOf(db, one, wish))
  const text = reports.map(({ title, found }) => asText(title, found)).join('\n\n')
  const [first] = reports
  if (merchant && first)
    return { data: { mode, from, until: to, ...first.data }, text: csv ? asCsv(first.found.rows) : text }
  const all = reports.map(({ data, found }) => ({ merchant_id: data.merchant_id, rows: found.rows }))
  const data = { mode, from, until: to, reports: reports.map(one => one.data) }
  return { data, text: csv ? asCsvOfAll(all) : text || 'There are no merchants yet.' }
}

async function reportOf(db: Db, { merchant_id, name }: Merchant, { outlet, mode, from, to }: Wish) {
  if (outlet && !(await listOutlets(db, merchant_id)).some(({ code }) => code === outlet))
    throw new CannotDo('not_found', `${name} has no outlet ${outlet}: tollgate outlet list shows them.`)
  const found = await outletReport(db, { merchant_id, mode, outlet, from, until: to })
  const title = `${name}, ${mode} payments created from ${dateTime(from)} until ${dateTime(to)}`
  const data = { merchant_id, rows: found.rows.map(rowData), totals: found.totals.map(rowData) }
  return { title, found, data }
}
