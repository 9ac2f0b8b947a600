import { Command } from 'commander'
import { exitCodeMeanings } from './failure.ts'
import { painter } from './terminal.ts'

const bold = (text: string) => painter(process.stdout)('bold', text)

// A command whose help ends with examples.
export class CliCommand extends Command {
  override createCommand(name?: string) {
    return new CliCommand(name)
  }
  examples(...lines: string[]) {
    return this.addHelpText('after', `\n${bold('Examples:')}\n${lines.map(line => `  $ ${line}`).join('\n')}`)
  }
}

export const exitCodesHelp = () =>
  `\n${bold('Exit codes:')}\n${exitCodeMeanings.map(([code, meaning]) => `  ${String(code).padStart(3)}  ${meaning}`).join('\n')}`

// Points to the help of the most specific command that was recognized.
export function helpHint(program: Command, args: readonly string[]): string {
  let command = program
  let path = program.name()
  for (const name of args.filter(arg => !arg.startsWith('-'))) {
    const next = command.commands.find(known => known.name() === name)
    if (!next) break
    command = next
    path += ` ${name}`
  }
  return `See ${path} --help.`
}
