import { stripVTControlCharacters } from 'node:util'
import { stripBidiControls } from '../core/text.ts'

// Terminal output: aligned columns, and colour only if the stream supports it.
const styles = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 }

export type Style = keyof typeof styles
type Stream = { hasColors?(): boolean }

// hasColors respects NO_COLOR. Pipes and files do not have it.
export const painter = (stream: Stream) => {
  const coloured = stream.hasColors?.() ?? false
  return (style: Style, text: string) => (coloured ? `\x1b[${styles[style]}m${text}\x1b[0m` : text)
}

export const paint = painter(process.stdout)

export type Fact = readonly [name: string, value: string | null | undefined]

// One fact per line. Facts without a value are left out.
export function facts(pairs: readonly Fact[]): string {
  const present = pairs.filter(([, value]) => value !== undefined && value !== null)
  const width = Math.max(...present.map(([name]) => lengthOf(name)))
  return present.map(([name, value]) => `  ${paint('dim', pad(name, width))}   ${value}`).join('\n')
}

// Parts of a text, with an empty line between them. Empty parts are left out.
export const paragraphs = (...parts: readonly (string | false | undefined)[]) =>
  parts.filter(Boolean).join('\n\n')

export const section = (title: string, body: string) => `${heading(title)}\n${body}`

type Cell = string | number | bigint | null | undefined

// `right` has the titles of columns that are aligned to the right.
export function table(
  titles: readonly string[],
  rows: readonly (readonly Cell[])[],
  right: readonly string[] = [],
): string {
  const texts = rows.map(cells => cells.map(cell => String(cell ?? '')))
  const widths = titles.map((title, at) =>
    Math.max(lengthOf(title), ...texts.map(row => lengthOf(row[at] ?? ''))),
  )
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, at) => pad(cell, widths[at] ?? 0, right.includes(titles[at] ?? '')))
      .join('   ')
      .trimEnd()
  return [paint('dim', line(titles)), ...texts.map(line)].join('\n')
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
