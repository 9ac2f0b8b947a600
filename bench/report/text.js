// The figures as a person reads them.
import { spread } from './figures.js'
import { tables, whole } from './tables.js'
import { weightOf } from './targets.js'

const colourful = process.stdout.isTTY && !process.env.NO_COLOR
const paint = (code, text) => (colourful ? `\x1b[${code}m${text}\x1b[0m` : text)
const bold = text => paint(1, text)
const good = text => paint(32, text)
const bad = text => paint(33, text)
const quiet = text => paint(2, text)

const sizeText = {
  whole: '',
  quick: ', quick',
  smallest: ', smallest: it only shows that every section runs',
}
const labelWidth = 32
const width = 11

/** @type {(machine: any, size: import('../run.js').Size) => string} */
export function header(machine, size) {
  const { cores, cpu: model, node, version, fsync, synchronous_commit, straightBy } = machine
  return [
    bold(`Tollgate bench${sizeText[size]}`),
    fact('Machine', `${cores} cores (${model}), shared by load generator, gateway and PostgreSQL`),
    fact('Programs', `Node ${node}, PostgreSQL ${version}`),
    fact('Commits', `durable: fsync ${fsync}, synchronous_commit ${synchronous_commit}`),
    fact('(a)', `single-row statements straight into PostgreSQL, by ${straightBy}`),
    fact('(b)', 'the gateway with one statement per request (batches of 1, 32 at once)'),
    fact('(c)', 'the gateway as it ships'),
    '',
  ].join('\n')
}

export function sectionText(section) {
  if (section.notMeasured) return `${bold(section.title)}\nNot measured: ${section.notMeasured}\n`
  return tableText(section)
}

function tableText({ title, about = [], table = 'requests', rows, ratios, files, notes = [] }) {
  const columns = tables[table]
  const heads = columns.map(([name]) => name.padStart(width)).join('')
  const lines = rows.map(
    row => row.label.padEnd(labelWidth) + columns.map(([, show]) => show(row).padStart(width)).join(''),
  )
  const compared = ratios.map(ratio => ratio.name.padEnd(labelWidth) + spreadText(ratio))
  const told = [...lines, ...compared, ...(files ? weightLines(files) : []), ...notes]
  return [headOf(title, quiet(heads)), ...about.map(quiet), ...told, ''].join('\n')
}

// A long title has a line to itself.
const headOf = (title, heads) =>
  title.length < labelWidth
    ? bold(title.padEnd(labelWidth)) + heads
    : `${bold(title)}\n${''.padEnd(labelWidth)}${heads}`

function weightLines(files) {
  const line = ({ name, bodyBytes, headBytes }) =>
    name.padEnd(labelWidth) + [bodyBytes, headBytes].map(bytes => whole(bytes).padStart(width)).join('')
  const heads = ['body', 'headers'].map(name => name.padStart(width)).join('')
  return [
    quiet(`${'bytes on the wire'.padEnd(labelWidth)}${heads}`),
    ...[...files, weightOf(files)].map(line),
  ]
}

/** @param {any[]} targets */
export function targetsText(targets) {
  const nameWidth = Math.max(...targets.map(({ name }) => name.length), 0)
  const lines = targets.map(({ reached, name, wanted, ...got }) =>
    [
      reached ? good('reached    ') : bad('not reached'),
      name.padEnd(nameWidth),
      wanted.padEnd(13),
      'median' in got ? spreadText(got) : amountText(got),
    ].join('  '),
  )
  return [bold('Targets'), ...lines, ''].join('\n')
}

export function footnotes(all, size) {
  const quick = size === 'quick'
  const [sections, notMeasured] = [all.filter(isMeasured), all.filter(section => !isMeasured(section))]
  const others = sections.flatMap(({ rows }) =>
    rows.flatMap(({ rounds }) => rounds.flatMap(round => round.others ?? [])),
  )
  const { median, max } = others.length > 0 ? spread(others) : {}
  return [
    'Rates, latencies and CPU are medians over the rounds; a ratio is taken within each round, then its median',
    'and its range are shown. Gateway (or worker), PostgreSQL and load (or receiver) are CPU time per request in',
    'microseconds; of PostgreSQL that is all its processes. Gateways write their whole log, to /dev/null.',
    notMeasured.length > 0 &&
      `Not measured, as the machine had no time for them: ${notMeasured.map(({ title }) => title).join('; ')}.`,
    others.length > 0 &&
      `Other work took ${percent(median)} of the machine while we measured, ${percent(max)} in the worst round.`,
    quick &&
      'Left out in a quick run: initiation and status check at 64 connections, at 100 requests a second,',
    quick &&
      'and with 1,000,000 stored payments or deliveries that ended; the index over 6,000,000 events; lists and',
    quick && 'reports of 2,000,000 payments.',
  ]
    .filter(Boolean)
    .join('\n')
}

export const isMeasured = section => section.notMeasured === undefined

const amountText = ({ megabytes, bytes }) =>
  `${whole(bytes ?? megabytes).padStart(width)} ${bytes === undefined ? 'MB' : 'bytes'}`
const percent = share => `${Math.round(share * 100)} %`
const fact = (name, words) => `${quiet(name.padEnd(10))}${words}`
const spreadText = ({ median, min, max, digits = 2 }) =>
  `${median.toFixed(digits).padStart(width)}   ${quiet(`${min.toFixed(digits)} to ${max.toFixed(digits)}`)}`
