import { stringify } from 'csv-stringify/sync'
import type { Ctx } from '../../http/context.ts'
import { sendCsv } from '../sendCsv.ts'

// A cell is a text of a person, or a figure of the gateway. A spreadsheet would run a text that begins like a formula, so an
// apostrophe is put before it; a negative figure stays one.
export type CsvCell = string | { figure: string }

const formula = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/

const cellText = (cell: CsvCell) => {
  if (typeof cell !== 'string') return cell.figure
  return formula.test(cell) ? `'${cell}` : cell
}

const linesOf = (rows: readonly (readonly CsvCell[])[]) =>
  stringify(
    rows.map(row => row.map(cellText)),
    { record_delimiter: 'windows' },
  )

// A file of any length, sent in the parts in which it is read.
export function csvAnswer(
  c: Ctx,
  name: string,
  head: readonly string[],
  parts: AsyncIterable<readonly (readonly CsvCell[])[]>,
) {
  async function* lines() {
    yield `\ufeff${linesOf([head])}`
    for await (const rows of parts) if (rows.length > 0) yield linesOf(rows)
  }
  return sendCsv(c, `${name}.csv`, lines())
}
