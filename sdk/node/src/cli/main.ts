import { createRequire } from 'node:module'
import { TollgateError } from '../errors.ts'
import { clock } from './clock.ts'
import {
  type Command,
  CommandError,
  helpOf,
  type Io,
  program,
  readInput,
  runnable,
  usageError,
} from './command.ts'
import { exam } from './exam/exam.ts'
import { explain } from './explain.ts'
import { listen } from './listen.ts'
import { login } from './login.ts'
import { outdatedText } from './outdated.ts'
import { printable } from './output.ts'
import { refund } from './refund.ts'
import { requests } from './requests.ts'
import { sign } from './sign.ts'
import { processIo } from './terminal.ts'
import { trigger } from './trigger.ts'

const commands: Record<string, Command> = { listen, trigger, refund, clock, exam, sign, requests, login }

// Runs a command and returns its exit code: 0 done, 1 refused or failed, 2 wrong usage.
export async function main(args: readonly string[], terminal?: Io): Promise<number> {
  const io = terminal ?? processIo()
  try {
    const [name = '', ...rest] = args
    if (['', 'help', '--help', '-h'].includes(name)) return showHelp(rest[0], name === '' ? 2 : 0, io)
    if (name === '--version') {
      io.out(version())
      return 0
    }
    const command = commandNamed(name)
    const input = readInput(command, rest, io)
    if (input.values.help) {
      io.out(helpOf(command))
      return 0
    }
    const outdated = terminal ? undefined : await outdatedText(io.env, version())
    if (outdated) io.error(outdated)
    return await command.run(input)
  } catch (error) {
    return report(error, io)
  }
}

function commandNamed(name: string): Command {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command) return command
  throw usageError(`There is no command ${name}. Commands: ${Object.keys(commands).join(', ')}.`)
}

function showHelp(name: string | undefined, exitCode: number, io: Io): number {
  if (name) {
    io.out(helpOf(commandNamed(name)))
    return 0
  }
  const width = Math.max(...Object.keys(commands).map(command => command.length))
  io.out(
    [
      'For developers of shops that use a Tollgate gateway.',
      '',
      `Usage: ${program} COMMAND [options]; --help after a command explains it`,
      '',
      ...Object.entries(commands).map(([command, { summary }]) => `  ${command.padEnd(width)}  ${summary}`),
      '',
      'The gateway and the keys come from TOLLGATE_URL, TOLLGATE_MERCHANT_KEY, TOLLGATE_MERCHANT_SECRET and',
      'TOLLGATE_IPN_SECRET, or from the file that login writes.',
      '',
      'Without installing anything:',
      `  ${runnable('listen --forward-to http://127.0.0.1:3000/ipn')}`,
    ].join('\n'),
  )
  return exitCode
}

const version = () => (createRequire(import.meta.url)('../../package.json') as { version: string }).version

function report(error: unknown, io: Io): number {
  if (error instanceof CommandError) {
    io.error(error.message)
    return error.exitCode
  }
  if (error instanceof TollgateError) {
    if (error.code === 'aborted') return 130
    io.error(printable(explain(error)))
    return 1
  }
  io.error(error instanceof Error ? (error.stack ?? error.message) : String(error))
  return 1
}
