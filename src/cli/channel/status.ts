import type { Command } from 'commander'
import { readChannelStatus, type WayStatus } from '../../actions/channels/status.ts'
import { withDatabase } from '../database.ts'
import { exitCodes } from '../exitCodes.ts'
import { examples } from '../help.ts'
import type { Cli } from '../output.ts'
import { paint, type Style, table } from '../terminal.ts'

// Joins the commands about channels.
export function addChannelStatus(channel: Command, cli: Cli) {
  channel
    .command('status')
    .description(
      'Show how each account at a provider has done in the last minutes, by way to pay, as all gateways on the ' +
        'database saw it. Exits with 1 where one is down.',
    )
    .addHelpText('after', examples('tollgate channel status', 'tollgate channel status --json'))
    .action(async () => {
      const ways = await withDatabase(({ db, clock }) => readChannelStatus(db, clock()))
      cli.print({ data: { ways }, text: textOf(ways) })
      process.exitCode = ways.some(({ standing }) => standing === 'down') ? exitCodes.refused : exitCodes.done
    })
}

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
    ...(words.length > 0 ? ['', 'Words of providers that we do not know:', ...words] : []),
  ].join('\n')
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
