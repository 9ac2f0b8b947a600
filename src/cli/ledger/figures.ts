import { stringify } from 'csv-stringify/sync'
import { figureIn } from '../../core/money.ts'
import type { CliCommand } from '../cliCommand.ts'
import { refused } from '../failure.ts'

// A balance may be negative.
export const signedFigure = (amount: bigint, currency: string) =>
  amount < 0n ? `-${figureIn(-amount, currency)}` : figureIn(amount, currency)

// A text may start like a formula, which a spreadsheet would run; a negative amount is none. printOutput adds the last line
// break.
export const ledgerCsv = (columns: string[], lines: readonly (readonly string[])[]) =>
  stringify(
    lines.map(line => line.map(cell => (/^[=+@\t\r]/.test(cell) ? `'${cell}` : cell))),
    { header: true, columns },
  ).trimEnd()

export const refuseTwoForms = (command: CliCommand, csv: true | undefined) => {
  if (csv && command.json) throw refused('Give --csv or --json, not both.')
}
