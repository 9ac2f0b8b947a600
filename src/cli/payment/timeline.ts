import type { Explained } from '../../actions/payments/explainPayment.ts'
import { maskInstrument } from '../../core/mask.ts'
import { paymentMethodName } from '../../core/provider/paymentMethod.ts'
import { indented, paint, paragraphs, section, table } from '../terminal.ts'
import { chargedFigure, withoutControls } from '../../core/timeline/history.ts'

const minTextWidth = 24 // in columns

// Attempts, past events and next steps of a payment, wrapped to the width of the terminal.
export function timelineText(explained: Explained, columns: number): string {
  const { attempts, moments, next } = explained
  const happened = moments.map(({ at, who, words }) => ({ at, cells: [clock(at), who], text: words }))
  const coming = next.map(({ at, words }) => ({ at, cells: [at ? clock(at) : ''], text: words }))
  return paragraphs(
    attempts.length > 0 && section('Attempts', indented(attemptTable(explained))),
    section('What happened', byDay(happened, columns)),
    section('What happens next', byDay(coming, columns)),
  )
}

const clock = (at: Date) => at.toISOString().slice(11, 19)
const dayOf = (at: Date) => `${at.toISOString().slice(0, 10)} UTC`

function attemptTable(explained: Explained): string {
  return table(
    ['#', 'METHOD', 'INSTRUMENT', 'STATE', 'CHARGED', "PROVIDER'S REF"],
    explained.attempts.map(attempt => [
      attempt.number,
      paymentMethodName(attempt.payment_method),
      withoutControls(maskInstrument(attempt.instrument) ?? ''),
      attempt.reason ? `${attempt.state}: ${attempt.reason}` : attempt.state,
      chargedFigure(attempt, explained),
      withoutControls(attempt.provider_ref ?? ''),
    ]),
    ['CHARGED'],
  )
}

type TimelineRow = { at: Date | null; cells: string[]; text: string }

// Each day is printed once, above its rows, to leave room for the text.
function byDay(lines: readonly TimelineRow[], columns: number): string {
  const widths = (lines[0]?.cells ?? []).map((_, at) =>
    Math.max(...lines.map(({ cells }) => cells[at]?.length ?? 0)),
  )
  const indent = 2 + widths.reduce((sum, width) => sum + width + (width > 0 ? 3 : 0), 0)
  let day = ''
  return lines
    .flatMap(({ at, cells, text }) => {
      const cellsText = cells.map((cell, n) => (widths[n] ? `${cell.padEnd(widths[n])}   ` : '')).join('')
      const [first = '', ...rest] = wrap(text, columns - indent)
      const line = [`  ${paint('dim', cellsText)}${first}`, ...rest.map(more => ' '.repeat(indent) + more)]
      const today = at ? dayOf(at) : day
      const isNew = today !== day
      day = today
      return isNew ? [`  ${paint('dim', today)}`, ...line] : line
    })
    .join('\n')
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > Math.max(width, minTextWidth)) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
