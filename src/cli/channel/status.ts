import type { Command } from 'commander'
import { readChannelStatus, type WayStatus } from '../../actions/channels/status.ts'
import { type WaitingAttempts, waitingAttempts } from '../../actions/channels/waitingAttempts.ts'
import { type Opened, withDatabase } from '../database.ts'
import { exitCodes } from '../exitCodes.ts'
import { examples } from '../help.ts'
import type { Cli } from '../output.ts'
import { paint, type Style, table } from '../terminal.ts'
import { waitingLine } from './businessText.ts'
import { openAll } from './desk.ts'

// Joins the commands about channels.
export function addChannelStatus(channel: Command, cli: Cli) {
  channel
    .command('status')
    .description(
      'Show how each account at a provider has done in the last minutes, by way to pay, as all gateways on the ' +
        'database saw it, why calls were not answered, and which open attempts wait for an account. Exits with 1 where ' +
        'one is down or its credentials are refused.',
    )
    .addHelpText('after', examples('tollgate channel status', 'tollgate channel status --json'))
    .action(async () => {
      const { ways, waiting } = await withDatabase(read)
      cli.print({ data: { ways, waiting }, text: [textOf(ways), ...waitingText(waiting)].join('\n') })
      const isBad = ways.some(({ standing, is_refused }) => standing === 'down' || is_refused)
      process.exitCode = isBad ? exitCodes.refused : exitCodes.done
    })
}

const read = async (opened: Opened) => ({
  ways: await readChannelStatus(opened.db, opened.clock()),
  waiting: await waitingAttempts(opened.db, await openAll(opened)),
})

const waitingText = (waiting: readonly WaitingAttempts[]) =>
  waiting.length === 0
    ? []
    : ['', 'Attempts that no gateway asks about:', ...waiting.map(one => `  ${waitingLine(one)}`)]

const columns = [
  { title: 'ACCOUNT' },
  { title: 'WAY' },
  { title: 'STANDING' },
  { title: 'BREAKER' },
  { title: 'ANSWERED', right: true },
  { title: 'NOT', right: true },
  { title: 'P50', right: true },
  { title: 'P95', right: true },
  { title: 'LAST PAID', right: true },
  { title: 'LAST ANSWER', right: true },
  { title: 'OPEN', right: true },
]

function textOf(ways: readonly WayStatus[]): string {
  if (ways.length === 0) return 'Nothing was sent to any provider in the last days.'
  const odd = ways.flatMap(way => way.odd_words.map(word => ({ ...way, ...word })))
  const words = odd.map(
    ({ account, payment_method, sample, count }) =>
      `  ${account} ${payment_method}: ${count} times ${sample}`,
  )
  return [
    table(columns, ways.map(rowOf)),
    ...errorsText(ways),
    ...(words.length > 0 ? ['', 'Words of providers that we do not know:', ...words] : []),
  ].join('\n')
}

function errorsText(ways: readonly WayStatus[]): string[] {
  const lines = ways.flatMap(
    ({ account, payment_method, last_error, last_error_seconds_ago, is_refused }) => {
      if (last_error === null) return []
      const when = ago(last_error_seconds_ago)
      const line = `  ${account} ${payment_method}, ${when} ago: ${last_error.replace(/\.$/, '')}.`
      return is_refused
        ? [paint('red', `${line} The credentials are refused: tollgate channel test ${account}`)]
        : [line]
    },
  )
  return lines.length === 0 ? [] : ['', 'Why the last call was not answered:', ...lines]
}

const colours: Record<WayStatus['standing'], Style> = {
  good: 'green',
  slow: 'yellow',
  down: 'red',
  quiet: 'dim',
}

const rowOf = (way: WayStatus): string[] => [
  way.account,
  way.payment_method,
  paint(colours[way.standing], way.standing),
  way.breaker,
  String(way.answered),
  String(way.unanswered),
  delay(way.p50_ms),
  delay(way.p95_ms),
  ago(way.paid_seconds_ago),
  ago(way.answered_seconds_ago),
  String(way.open_attempts),
]

const delay = (ms: number | null) => (ms === null ? '' : ms < 1000 ? `${ms} ms` : `${ms / 1000} s`)

const units = [
  { name: 'd', seconds: 86_400 },
  { name: 'h', seconds: 3600 },
  { name: 'min', seconds: 60 },
]

function ago(seconds: number | null): string {
  if (seconds === null) return ''
  const unit = units.find(one => seconds >= one.seconds)
  return unit ? `${Math.floor(seconds / unit.seconds)} ${unit.name}` : `${seconds} s`
}
