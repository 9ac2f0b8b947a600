import { parseArgs } from 'node:util'

// The terminal and the environment of a command.
export type Io = {
  env: Readonly<Record<string, string | undefined>>
  out(line: string): void
  error(line: string): void
  isTerminal: boolean // of the output, for colours
  ask(question: string, isHidden?: boolean): Promise<string>
  signal: AbortSignal // aborted when the user ends the command
}

export type Option = { type: 'string' | 'boolean'; short?: string; value?: string; help: string }

export type Input = {
  values: Readonly<Record<string, string | boolean | undefined>>
  positionals: readonly string[]
  rest: readonly string[] // what follows `--`
  io: Io
}

export type Command = {
  usage: string
  summary: string
  details?: string
  options: Readonly<Record<string, Option>>
  examples: readonly string[]
  // Returns the exit code.
  run(input: Input): Promise<number>
}

// An error that the user can correct. The message says how.
export class CommandError extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

export const usageError = (message: string): CommandError => new CommandError(message, 2)

const helpOption = { help: { type: 'boolean', short: 'h', help: 'show this help' } } as const

const isSecret = (arg: string) => /^--?[\w-]*(secret|password)\b/i.test(arg) || /whsec_\w/.test(arg)

// A secret in the arguments would be in the shell's history and in the list of processes.
function refuseSecrets(args: readonly string[]) {
  if (!args.some(isSecret)) return
  throw usageError(
    'A secret must not be an argument: other users of this machine can read it, and it stays in the history of your shell. ' +
      'Set TOLLGATE_MERCHANT_SECRET and TOLLGATE_IPN_SECRET, or run `login` once. If you have typed a real secret, ask your operator for a new one.',
  )
}

export function readInput({ options, usage }: Command, args: readonly string[], io: Io): Input {
  const end = args.indexOf('--')
  const own = end === -1 ? args : args.slice(0, end)
  refuseSecrets(own)
  try {
    const { values, positionals } = parseArgs({
      args: [...own],
      options: { ...options, ...helpOption },
      allowPositionals: true,
    })
    return { values, positionals, rest: end === -1 ? [] : args.slice(end + 1), io }
  } catch (error) {
    throw usageError(`${(error as Error).message}\nUsage: ${program} ${usage}`)
  }
}

export const program = 'tollgate-merchant'

// The command as it can be pasted before the package is published: the gateway itself serves it.
export const runnable = (args: string): string => `npx $TOLLGATE_URL/sdk/merchant.tgz ${args}`

export function helpOf({ usage, summary, details, options, examples }: Command): string {
  const shown = Object.entries<Option>({ ...options, ...helpOption }).map(([name, option]) => [
    `${option.short ? `-${option.short}, ` : ''}--${name}${option.value ? ` ${option.value}` : ''}`,
    option.help,
  ])
  const width = Math.max(...shown.map(([flags = '']) => flags.length))
  return [
    summary,
    '',
    `Usage: ${program} ${usage}`,
    ...(details ? ['', details] : []),
    '',
    'Options:',
    ...shown.map(([flags = '', help]) => `  ${flags.padEnd(width)}  ${help}`),
    '',
    'Examples:',
    ...examples.map(example => `  ${runnable(example)}`),
  ].join('\n')
}

export const textOption = ({ values }: Input, name: string): string | undefined => {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}

export function urlArgument(text: string | undefined, what: string): string {
  if (text && /^https?:\/\/[^/\s]+/.test(text) && URL.canParse(text)) return text
  throw usageError(`${what} must be an address such as http://127.0.0.1:3000/ipn (got ${text ?? 'nothing'}).`)
}
