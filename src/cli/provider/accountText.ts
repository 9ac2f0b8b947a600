import type { AccountCheck } from '../../actions/providers/checkAccount.ts'
import type { WaitingAttempts } from '../../actions/providers/waitingAttempts.ts'
import type { Provider } from '../../core/provider/provider.ts'
import { refused } from '../failure.ts'
import { type Fact, paint } from '../terminal.ts'

export const openAttemptsText = (count: number) => (count === 1 ? '1 open attempt' : `${count} open attempts`)

export const waitingText = ({ attempts, why }: WaitingAttempts) =>
  `${openAttemptsText(attempts)} ${attempts === 1 ? 'waits' : 'wait'}. ${why}`

export const checkResultText = ({ outcome, words }: AccountCheck): string =>
  ({
    good: `the settings are good: ${words}`,
    bad: `the settings are wrong: ${words}`,
    no_answer: `the provider could not be asked: ${words}`,
    no_check: words,
  })[outcome]

export const checkResultFact = (result: AccountCheck | undefined): Fact => [
  'check',
  result ? checkResultText(result) : 'skipped',
]

// Settings that the provider rejects are stored only with --no-test. A provider that does not answer is no rejection.
export function requireNotRejected(result: AccountCheck | undefined) {
  if (result?.outcome === 'bad')
    throw refused(`Nothing was changed: ${checkResultText(result)} Use --no-test to store them anyway.`, {
      data: { check: result },
    })
}

// Names of secrets that were typed on the command line.
export function secretsInArguments({ settings }: Provider, args: readonly string[]): string[] {
  const secret = settings.filter(one => one.isSecret).map(({ name }) => name)
  return [...secret, 'egress_proxy'].filter(name => args.some(arg => hasValueOf(name, arg)))
}

const hasValueOf = (name: string, arg: string) => {
  const value = arg.startsWith(`${name}=`) ? arg.slice(name.length + 1) : ''
  return value !== '' && value !== '-' && !value.startsWith('@')
}

export const secretsInArgumentsWarning = (names: readonly string[]) =>
  names.length > 0 &&
  paint(
    'yellow',
    `${names.join(', ')} was on the command line: it is in the history of your shell, and other users of this ` +
      'machine may have seen it. NAME=- asks for it, NAME=@FILE reads it from a file.',
  )
