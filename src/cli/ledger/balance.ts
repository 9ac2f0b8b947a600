import { type AccountBalance, balancesAt } from '../../actions/ledger/balances.ts'
import type { Mode } from '../../core/mode.ts'
import { listMerchants } from '../../store/merchants/merchants.ts'
import type { CliCommand } from '../cliCommand.ts'
import { type CommandContext, requireMerchant } from '../database.ts'
import type { Output } from '../output.ts'
import { dateTime, heading, table } from '../terminal.ts'
import { modeOption, readInstant } from '../values.ts'
import { ledgerCsv, refuseTwoForms, signedFigure } from './figures.ts'

type Options = { merchant?: string; mode: Mode; at?: Date; csv?: true }

export function addLedgerBalance(ledger: CliCommand) {
  ledger
    .command('balance')
    .description(
      'Show the balance of each ledger account. merchant is what is owed to the merchant; provider:NAME is what the ' +
        'provider account holds.',
    )
    .option('--merchant <id>', 'only this merchant; without it every merchant')
    .addOption(modeOption('which payments').default('live'))
    .option('--at <time>', 'the balances at this moment (2026-05-31T18:00:00Z); default: now', readInstant)
    .option('--csv', 'as CSV, for a spreadsheet')
    .examples(
      'tollgate ledger balance',
      'tollgate ledger balance --merchant 7c2k9m0x4f --at 2026-06-01T00:00:00Z',
    )
    .runWithDatabase((context, options: Options) => {
      refuseTwoForms(ledger, options.csv)
      return showBalances(context, options)
    })
}

async function showBalances({ db, clock }: CommandContext, options: Options): Promise<Output> {
  const { merchant, mode, csv } = options
  const at = options.at ?? clock()
  const merchants = merchant ? [await requireMerchant(db, merchant)] : await listMerchants(db)
  const all = []
  for (const { merchant_id, name } of merchants) {
    const balances = (await balancesAt(db, merchant_id, at)).filter(one => one.mode === mode)
    all.push({ merchant_id, name, balances })
  }
  const data = {
    mode,
    at,
    merchants: all.map(({ merchant_id, balances }) => ({ merchant_id, balances: balances.map(balanceData) })),
  }
  const rows = all.flatMap(({ merchant_id, balances }) =>
    balances.map(one => [merchant_id, one.currency, one.account, signedFigure(one.balance, one.currency)]),
  )
  if (csv) return { data, text: ledgerCsv(['merchant_id', 'currency', 'account', 'balance'], rows) }
  const texts = all
    .filter(one => merchant || one.balances.length > 0)
    .map(({ name, balances }) => balanceText(`${name}, ${mode}, at ${dateTime(at)}`, balances))
  return { data, text: texts.join('\n\n') || 'Nothing is booked yet.' }
}

const balanceData = ({ currency, account, balance }: AccountBalance) => ({
  currency,
  account,
  balance: signedFigure(balance, currency),
})

function balanceText(title: string, balances: readonly AccountBalance[]): string {
  if (balances.length === 0) return `${title}\n\nNothing is booked yet.`
  const lines = balances.map(({ account, currency, balance }) => [
    account,
    `${currency} ${signedFigure(balance, currency)}`,
  ])
  return `${heading(title)}\n\n${table(['ACCOUNT', 'BALANCE'], lines, ['BALANCE'])}`
}
