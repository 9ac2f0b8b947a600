import { accountStatement, type Statement, type StatementLine } from '../../actions/ledger/statement.ts'
import type { Mode } from '../../core/mode.ts'
import type { CliCommand } from '../cliCommand.ts'
import { type CommandContext, requireMerchant } from '../database.ts'
import { refused } from '../failure.ts'
import type { Output } from '../output.ts'
import { dateTime, heading, table } from '../terminal.ts'
import { fromOption, modeOption, requirePeriod, toOption } from '../values.ts'
import { ledgerCsv, refuseTwoForms, signedFigure } from './figures.ts'

const maxLines = 200_000

type Options = {
  merchant: string
  account: string
  mode: Mode
  currency?: string
  from: Date
  to: Date
  csv?: true
}

export function addLedgerStatement(ledger: CliCommand) {
  ledger
    .command('statement')
    .description(
      'Show every transfer of one ledger account, with the balance after it, by the time of booking.',
    )
    .requiredOption('--merchant <id>', 'the merchant')
    .option(
      '--account <name>',
      'merchant, suspense, provider:NAME or another account of ledger balance',
      'merchant',
    )
    .addOption(modeOption('which payments').default('live'))
    .option('--currency <code>', 'only this currency')
    .addOption(fromOption().makeOptionMandatory())
    .addOption(toOption().makeOptionMandatory())
    .option('--csv', 'as CSV, for a spreadsheet')
    .examples(
      'tollgate ledger statement --merchant 7c2k9m0x4f --from 2026-05-01 --to 2026-05-31',
      'tollgate ledger statement --merchant 7c2k9m0x4f --account suspense --from 2026-05-01 --to 2026-05-31 --csv',
    )
    .runWithDatabase((context, options: Options) => {
      refuseTwoForms(ledger, options.csv)
      return showStatement(context, options)
    })
}

async function showStatement({ db }: CommandContext, options: Options): Promise<Output> {
  const { mode, account, currency, from, to, csv } = options
  requirePeriod(from, to)
  const { merchant_id, name } = await requireMerchant(db, options.merchant)
  const request = { merchant_id, mode, account, currency, from, until: to }
  const statement = await accountStatement(db, request, maxLines)
  if (!statement)
    throw refused(`One statement has at most ${maxLines} lines: give a shorter period or one --currency.`)
  const data = {
    merchant_id,
    mode,
    account,
    from,
    until: to,
    opening: sumsData(statement.opening),
    lines: statement.lines.map(lineData),
    closing: sumsData(statement.closing),
  }
  if (csv) return { data, text: ledgerCsv(columns, statement.lines.map(csvCells)) }
  const title = `${name}, ${mode}, account ${account}, booked from ${dateTime(from)} until ${dateTime(to)}`
  return { data, text: `${heading(title)}\n\n${statementText(statement)}` }
}

const sumsData = (sums: ReadonlyMap<string, bigint>) =>
  Object.fromEntries([...sums].map(([currency, sum]) => [currency, signedFigure(sum, currency)]))

const lineData = (line: StatementLine) => ({
  transfer_id: line.transfer_id,
  kind: line.kind,
  other_account: line.other_account,
  tx_reference: line.tx_reference,
  refund_reference: line.refund_reference,
  reason: line.reason,
  currency: line.currency,
  amount: signedFigure(line.amount, line.currency),
  balance: signedFigure(line.balance, line.currency),
  happened_at: line.happened_at,
  created_at: line.created_at,
})

const columns = [
  'created_at',
  'happened_at',
  'kind',
  'other_account',
  'tx_reference',
  'refund_reference',
  'reason',
  'currency',
  'amount',
  'balance',
  'transfer_id',
]

const csvCells = (line: StatementLine) => {
  const { created_at, happened_at, ...rest } = lineData(line)
  const cells: Record<string, string | null> = {
    ...rest,
    created_at: created_at.toISOString(),
    happened_at: happened_at.toISOString(),
  }
  return columns.map(column => cells[column] ?? '')
}

const sumLines = (title: string, all: ReadonlyMap<string, bigint>) =>
  [...all].map(([currency, sum]) => [title, '', '', '', '', `${currency} ${signedFigure(sum, currency)}`])

function statementText({ opening, lines, closing }: Statement): string {
  const rows = [
    ...sumLines('opening balance', opening),
    ...lines.map(line => [
      dateTime(line.created_at),
      line.kind,
      line.other_account,
      line.refund_reference ?? line.tx_reference ?? '',
      signedFigure(line.amount, line.currency),
      `${line.currency} ${signedFigure(line.balance, line.currency)}`,
    ]),
    ...sumLines('closing balance', closing),
  ]
  if (rows.length === 0) return 'Nothing is booked in this period.'
  return table(['BOOKED', 'KIND', 'OTHER ACCOUNT', 'REFERENCE', 'AMOUNT', 'BALANCE'], rows, [
    'AMOUNT',
    'BALANCE',
  ])
}
