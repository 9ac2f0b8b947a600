// The figures as a person reads them.
import { spread } from './figures.js'
import { weightOf } from './targets.js'

const colourful = process.stdout.isTTY && !process.env.NO_COLOR
const paint = (code, text) => (colourful ? `\x1b[${code}m${text}\x1b[0m` : text)
const bold = text => paint(1, text)
const good = text => paint(32, text)
const bad = text => paint(33, text)
const quiet = text => paint(2, text)

const rate = ['rate/s', row => (row.rate < 10 ? row.rate.toFixed(1) : whole(row.rate))]
const cpuOf = (first, last) => [
  [first, row => cpu(row.cpuUs.gateway)],
  ['PostgreSQL', row => cpu(row.cpuUs.postgres)],
  [last, row => cpu(row.cpuUs.load)],
]
const ms = (title, name) => [title, row => row[name].toFixed(1)]

// What a section shows of each contender.
const tables = {
  requests: [
    ['connections', row => String(row.connections)],
    rate,
    ms('p50 ms', 'p50'),
    ms('p99 ms', 'p99'),
    ...cpuOf('gateway', 'load'),
  ],
  backlog: [
    rate,
    ...cpuOf('worker', 'receiver'),
    ['lost', row => worst(row, 'lost')],
    ['twice', row => worst(row, 'twice')],
  ],
  latency: [
    rate,
    ms('p50 ms', 'p50'),
    ms('p99 ms', 'p99'),
    ms('worst ms', 'worst'),
    ...cpuOf('gateway', 'receiver'),
  ],
  isolation: [
    ms('cold p50', 'coldP50'),
    ms('cold p99', 'coldP99'),
    ms('then p50', 'p50'),
    ms('then p99', 'p99'),
    ms('worst ms', 'worst'),
  ],
  expiry: [rate, ...cpuOf('gateway', '').slice(0, 2)],
  paused: [
    rate,
    ms('answer p50', 'p50'),
    ms('answer p99', 'p99'),
    ms('told p50', 'toldP50'),
    ms('told p99', 'toldP99'),
    ms('told worst', 'toldWorst'),
    ['lost', row => worst(row, 'lost')],
    ['doubled', row => worst(row, 'doubled')],
    ['came twice', row => worst(row, 'twice')],
    ['refused', row => worst(row, 'refused')],
  ],
  arrivals: [
    rate,
    ms('p50 ms', 'p50'),
    ms('p99 ms', 'p99'),
    ms('worst ms', 'worst'),
    ['refused', row => worst(row, 'refused')],
    ['seconds', row => row.seconds.toFixed(1)],
  ],
  knock: [ms('p50 ms', 'p50'), ms('p99 ms', 'p99'), ms('worst ms', 'worst')],
  growth: [rate, ms('look ms', 'lookMs'), ms('take ms', 'takeMs'), ...cpuOf('gateway', 'receiver')],
}
const worst = ({ rounds }, name) => whole(Math.max(...rounds.map(round => round[name])))
const labelWidth = 32
const width = 11

export function header(machine, quick) {
  const { cores, cpu: model, node, version, fsync, synchronous_commit, straightBy } = machine
  return [
    bold(`Tollgate bench${quick ? ', quick' : ''}`),
    fact('Machine', `${cores} cores (${model}), shared by load generator, gateway and PostgreSQL`),
    fact('Programs', `Node ${node}, PostgreSQL ${version}`),
    fact('Commits', `durable: fsync ${fsync}, synchronous_commit ${synchronous_commit}`),
    fact('(a)', `single-row statements straight into PostgreSQL, by ${straightBy}`),
    fact('(b)', 'the gateway with one statement per request (batches of 1, 32 at once)'),
    fact('(c)', 'the gateway as it ships'),
    '',
  ].join('\n')
}

export function sectionText({
  title,
  about = [],
  table = 'requests',
  rows,
  ratios,
  files,
  paid,
  megabytes,
  notes = [],
}) {
  const columns = tables[table]
  const heads = columns.map(([name]) => name.padStart(width)).join('')
  const lines = rows.map(
    row => row.label.padEnd(labelWidth) + columns.map(([, show]) => show(row).padStart(width)).join(''),
  )
  const compared = ratios.map(ratio => ratio.name.padEnd(labelWidth) + spreadText(ratio))
  const told = [
    ...lines,
    ...compared,
    ...(files ? weightLines(files) : []),
    ...(paid ? paidLines(paid, megabytes) : []),
    ...notes,
  ]
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

const paidLines = (paid, megabytes) => [
  `Counted in the database: ${whole(paid)} payments begun, all of them paid, one attempt and one charge each.`,
  `The gateway of the checkout took at most ${whole(megabytes)} MB.`,
]

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

export function footnotes(sections, quick) {
  const others = sections.flatMap(({ rows }) =>
    rows.flatMap(({ rounds }) => rounds.map(round => round.others)),
  )
  const { median, max } = spread(others)
  return [
    'Rates, latencies and CPU are medians over the rounds; a ratio is taken within each round, then its median',
    'and its range are shown. Gateway (or worker), PostgreSQL and load (or receiver) are CPU time per request in',
    'microseconds; of PostgreSQL that is all its processes. Gateways write their whole log, to /dev/null.',
    `Other work took ${percent(median)} of the machine while we measured, ${percent(max)} in the worst round.`,
    quick &&
      'Left out in a quick run: initiation and status check at 64 connections, at 100 requests a second,',
    quick && 'and with 1,000,000 stored payments or deliveries that ended; the index over 6,000,000 events.',
  ]
    .filter(Boolean)
    .join('\n')
}

const amountText = ({ megabytes, bytes }) =>
  `${whole(bytes ?? megabytes).padStart(width)} ${bytes === undefined ? 'MB' : 'bytes'}`
const percent = share => `${Math.round(share * 100)} %`
const fact = (name, words) => `${quiet(name.padEnd(10))}${words}`
const whole = n => Math.round(n).toLocaleString('en')
const cpu = us => (us === undefined ? '–' : whole(us))
const spreadText = ({ median, min, max, digits = 2 }) =>
  `${median.toFixed(digits).padStart(width)}   ${quiet(`${min.toFixed(digits)} to ${max.toFixed(digits)}`)}`
