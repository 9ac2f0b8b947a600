import { stripVTControlCharacters } from 'node:util'
import { stripBidiControls } from '../core/text.ts'

// Terminal output: aligned columns, one fact per line, colour only if the stream supports it.
const styles = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 }

export type Style = keyof typeof styles
type Stream = { hasColors?(): boolean }

// hasColors respects NO_COLOR. Pipes and files do not have it.
export const painter = (stream: Stream) => {
  const coloured = stream.hasColors?.() ?? false
  return (style: Style, text: string) => (coloured ? `\x1b[${styles[style]}m${text}\x1b[0m` : text)
}

export const paint = painter(process.stdout)

export type Fact = readonly [name: string, value: string]

export function facts(pairs: readonly Fact[], indent = 2): string {
  const width = Math.max(...pairs.map(([name]) => lengthOf(name)))
  return pairs
    .map(([name, value]) => `${' '.repeat(indent)}${paint('dim', pad(name, width))}   ${value}`)
    .join('\n')
}

// `right` has the titles of columns that are aligned to the right.
export function table(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  right: readonly string[] = [],
): string {
  const widths = titles.map((title, at) =>
    Math.max(lengthOf(title), ...rows.map(row => lengthOf(row[at] ?? ''))),
  )
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, at) => pad(cell, widths[at] ?? 0, right.includes(titles[at] ?? '')))
      .join('   ')
      .trimEnd()
  return [paint('dim', line(titles)), ...rows.map(line)].join('\n')
}

export const heading = (text: string) => paint('bold', text)

export const indented = (text: string) => text.replace(/^/gm, '  ')

export const dateTime = (date: Date) => `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`

function pad(text: string, width: number, right = false): string {
  const gap = ' '.repeat(Math.max(0, width - lengthOf(text)))
  return right ? gap + text : text + gap
}

// Counts what a reader sees: bidi controls are removed before printing.
const segmenter = new Intl.Segmenter('en')
const lengthOf = (text: string) =>
  [...segmenter.segment(stripVTControlCharacters(stripBidiControls(text)))].length

// For a person at the terminal. Supervisors and files have the log.
export function printProgress(text: string) {
  if (process.stderr.isTTY) process.stderr.write(`${text}\n`)
}
