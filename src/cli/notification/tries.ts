import { resultWords, triesKeptDays } from '../../core/notification/deliveryWords.ts'
import { withoutControls } from '../../core/timeline/history.ts'
import type { Try } from '../../store/notifications/tries.ts'
import { dateTime, paint, table } from '../terminal.ts'

const longestLine = 100 // of what an endpoint answered
const lostWords = 'a node stopped before it could write down what came of it'

// Every try in a line, and below it what the endpoint answered. Empty when there was none.
export function triesText(
  written: readonly Try[],
  lost: readonly number[],
  forgotten: readonly number[],
): string {
  const rows = [
    ...written.map(one => ({ number: one.try, cells: cellsOf(one), more: answerLine(one) })),
    ...lost.map(number => ({ number, cells: [String(number), '', '', '', '', lostWords], more: undefined })),
  ].sort((a, b) => a.number - b.number)
  const titles = ['#', 'WHEN', 'TOOK', 'ADDRESS', 'STATUS', 'RESULT']
  const [title = '', ...lines] = table(
    titles.map(name => ({ title: name, right: name === '#' || name === 'TOOK' })),
    rows.map(({ cells }) => cells),
  ).split('\n')
  const text = lines.flatMap((line, at) => {
    const more = rows[at]?.more
    return more ? [line, `     ${paint('dim', more)}`] : [line]
  })
  return [
    ...(rows.length > 0 ? [title, ...text] : []),
    ...(forgotten.length > 0
      ? [`${forgotten.length} older: what came of a try is kept for ${triesKeptDays} days.`]
      : []),
  ]
    .map(line => `  ${line}`)
    .join('\n')
}

const cellsOf = (one: Try) => [
  String(one.try),
  dateTime(one.started_at),
  one.ms < 10_000 ? `${one.ms} ms` : `${(one.ms / 1000).toFixed(1)} s`,
  withoutControls(one.address ?? ''),
  one.status === null ? '' : String(one.status),
  resultWords(one.result) + (one.words ? `: ${withoutControls(one.words)}` : ''),
]

// A stranger's bytes: made one line that no terminal obeys.
function answerLine({ answer }: Try): string | undefined {
  const lines = (answer?.toString('utf8') ?? '').split(/[\r\n]+/).filter(line => line.trim() !== '')
  const first = withoutControls(lines[0] ?? '').trim()
  if (first === '') return undefined
  const cut = [...first].slice(0, longestLine).join('')
  return `answered: ${cut}${cut !== first || lines.length > 1 ? ' …' : ''}`
}
