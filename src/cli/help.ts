import type { Command } from 'commander'
import { exitCodeWords } from './exitCodes.ts'
import { painter } from './terminal.ts'

const bold = (text: string) => painter(process.stdout)('bold', text)

export const examples = (...lines: string[]) =>
  `\n${bold('Examples:')}\n${lines.map(line => `  $ ${line}`).join('\n')}`

export const exitCodesHelp = () =>
  `\n${bold('Exit codes:')}\n${exitCodeWords.map(([code, words]) => `  ${String(code).padStart(3)}  ${words}`).join('\n')}`

// The sentence that sends someone who mistyped to the right page: that of the command they had in mind.
export function helpHint(program: Command, words: readonly string[]): string {
  let command = program
  let path = program.name()
  for (const word of words.filter(candidate => !candidate.startsWith('-'))) {
    const next = command.commands.find(known => known.name() === word)
    if (!next) break
    command = next
    path += ` ${word}`
  }
  return `See ${path} --help.`
}
