import { readProviderStatus, type MethodStatus } from '../../actions/providers/health.ts'
import { type WaitingAttempts, waitingAttempts } from '../../actions/providers/waitingAttempts.ts'
import type { CommandContext } from '../database.ts'
import { exitCodes } from '../failure.ts'
import type { CliCommand } from '../cliCommand.ts'
import type { Output } from '../output.ts'
import { paint, type Style, table } from '../terminal.ts'
import { openAccounts } from './accountSetup.ts'
import { waitingText } from './accountText.ts'

export function addProviderStatus(command: CliCommand) {
  command
    .command('status')
    .description(
      'Show the health of each provider account over the last minutes, by payment method, as seen by all gateways on the ' +
        'database; why calls were not answered; and which open attempts wait for an account. Exits with 1 if an account ' +
        'is down or its credentials are refused.',
    )
    .examples('tollgate provider status', 'tollgate provider status --json')
    .runWithDatabase(status)
}

async function status(context: CommandContext): Promise<Output> {
  const methods = await readProviderStatus(context.db, context.clock())
  const waiting = await waitingAttempts(context.db, await openAccounts(context))
  const isBad = methods.some(({ health, is_refused }) => health === 'down' || is_refused)
  return {
    data: { methods, waiting },
    text: [statusText(methods), ...waitingLines(waiting)].join('\n'),
    exitCode: isBad ? exitCodes.refused : exitCodes.done,
  }
}

const waitingLines = (waiting: readonly WaitingAttempts[]) =>
  waiting.length === 0
    ? []
    : ['', 'Open attempts that are not polled:', ...waiting.map(one => `  ${waitingText(one)}`)]

const textColumns = ['ACCOUNT', 'METHOD', 'HEALTH', 'BREAKER']
const numberColumns = ['ANSWERED', 'UNANSWERED', 'P50', 'P95', 'LAST PAID', 'LAST ANSWER', 'OPEN']

function statusText(methods: readonly MethodStatus[]): string {
  if (methods.length === 0) return 'No calls to providers in the last days.'
  const codes = methods.flatMap(({ account, payment_method, unknown_codes }) =>
    unknown_codes.map(({ sample, count }) => `  ${account} ${payment_method}: ${count} × ${sample}`),
  )
  return [
    table([...textColumns, ...numberColumns], methods.map(rowOf), numberColumns),
    ...errorLines(methods),
    ...(codes.length > 0 ? ['', 'Unknown codes of providers:', ...codes] : []),
  ].join('\n')
}

function errorLines(methods: readonly MethodStatus[]): string[] {
  const lines = methods.flatMap(
    ({ account, payment_method, last_error, last_error_seconds_ago, is_refused }) => {
      if (last_error === null) return []
      const when = ago(last_error_seconds_ago)
      const line = `  ${account} ${payment_method}, ${when} ago: ${last_error.replace(/\.$/, '')}.`
      return is_refused
        ? [paint('red', `${line} The credentials are refused: tollgate provider test ${account}`)]
        : [line]
    },
  )
  return lines.length === 0 ? [] : ['', 'Why the last call was not answered:', ...lines]
}

const colours: Record<MethodStatus['health'], Style> = {
  healthy: 'green',
  degraded: 'yellow',
  down: 'red',
  quiet: 'dim',
}

const rowOf = (method: MethodStatus) => [
  method.account,
  method.payment_method,
  paint(colours[method.health], method.health),
  method.breaker,
  method.answered,
  method.unanswered,
  delay(method.p50_ms),
  delay(method.p95_ms),
  ago(method.paid_seconds_ago),
  ago(method.answered_seconds_ago),
  method.open_attempts,
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
