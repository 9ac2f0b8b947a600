// One line of a CSV file (RFC 4180). A text that begins like a formula would be run by a spreadsheet, so it gets an
// apostrophe in front; a plain number is none, even if it is negative.
export const csvLine = (cells: readonly (string | null)[]): string =>
  `${cells.map(cell => quoted(withoutFormula(cell ?? ''))).join(',')}\r\n`

const withoutFormula = (cell: string) =>
  /^[=+\-@\t\r\n]/.test(cell) && !/^-?\d+(\.\d+)?$/.test(cell) ? `'${cell}` : cell

const quoted = (cell: string) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
