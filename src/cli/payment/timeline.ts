import type { Explained } from '../../actions/payments/explainPayment.ts'
import { paymentMethodName } from '../../core/provider/paymentMethodNames.ts'
import { maskInstrument } from '../../core/mask.ts'
import { chargedFigure, withoutControls } from '../../core/timeline/history.ts'
import { heading, paint, table } from '../terminal.ts'

const narrowest = 24 // words are not broken into less than this

// The story of a payment on a terminal that is so many columns wide: the attempts, what happened, what happens next.
export function storyText(explained: Explained, columns: number): string {
  const { attempts, moments, next } = explained
  const happened = moments.map(({ at, who, words }) => ({ at, cells: [clock(at), who], words }))
  const coming = next.map(({ at, words }) => ({ at, cells: [at ? clock(at) : ''], words }))
  return [
    ...(attempts.length > 0 ? [`${heading('Attempts')}\n${indented(attemptTable(explained))}`] : []),
    `${heading('What happened')}\n${byDay(happened, columns)}`,
    `${heading('What happens next')}\n${byDay(coming, columns)}`,
  ].join('\n\n')
}

const indented = (text: string) => text.replace(/^/gm, '  ')
const clock = (at: Date) => at.toISOString().slice(11, 19)
const dayOf = (at: Date) => `${at.toISOString().slice(0, 10)} UTC`

function attemptTable(explained: Explained): string {
  const titles = ['#', 'METHOD', 'INSTRUMENT', 'STATE', 'CHARGED', "PROVIDER'S REF"]
  return table(
    titles.map(title => ({ title, right: title === 'CHARGED' })),
    explained.attempts.map(attempt => [
      String(attempt.number),
      paymentMethodName(attempt.payment_method),
      withoutControls(maskInstrument(attempt.instrument) ?? ''),
      attempt.reason ? `${attempt.state}: ${attempt.reason}` : attempt.state,
      chargedFigure(attempt, explained) ?? '',
      withoutControls(attempt.provider_ref ?? ''),
    ]),
  )
}

type TimelineRow = { at: Date | null; cells: string[]; words: string }

// The day stands once above its lines, so that the words have the room.
function byDay(lines: readonly TimelineRow[], columns: number): string {
  const widths = (lines[0]?.cells ?? []).map((_, at) =>
    Math.max(...lines.map(({ cells }) => cells[at]?.length ?? 0)),
  )
  const indent = 2 + widths.reduce((sum, width) => sum + width + (width > 0 ? 3 : 0), 0)
  let day = ''
  return lines
    .flatMap(({ at, cells, words }) => {
      const cellsText = cells.map((cell, n) => (widths[n] ? `${cell.padEnd(widths[n])}   ` : '')).join('')
      const [first = '', ...rest] = wrap(words, columns - indent)
      const line = [`  ${paint('dim', cellsText)}${first}`, ...rest.map(more => ' '.repeat(indent) + more)]
      const today = at ? dayOf(at) : day
      const isNew = today !== day
      day = today
      return isNew ? [`  ${paint('dim', today)}`, ...line] : line
    })
    .join('\n')
}

function wrap(words: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of words.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > Math.max(width, narrowest)) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
