import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { createProgram } from '../../src/cli/command.ts'

const page = readFileSync('docs/going-live.md', 'utf8')

// Every line of every code block, in the order of the page.
export const commandsOnPage = [...page.matchAll(/^ *```sh\n(.*?)^ *```$/gms)].flatMap(([, block = '']) =>
  block
    .split('\n')
    .map(line => line.trim())
    .filter(Boolean),
)

// Commands in running text, such as `npx tollgate doctor`.
export const inlineCommands = [...page.matchAll(/`npx tollgate ([^`]+)`/g)].map(([, words = '']) => words)

// Why a command line is invalid; undefined if the command and its options exist.
export function usageFault(words: string): string | undefined {
  const options = words.match(/--[a-z-]+/g) ?? []
  let command: Command = createProgram(false)
  for (const word of words.split(' ')) {
    const next: Command | undefined = command.commands.find(one => one.name() === word)
    if (next) command = next
    else if (command.commands.length > 0) return `there is no command ${word} in: ${words}`
    else break
  }
  const unknown = options.find(option => !command.options.some(({ long }) => long === option))
  return unknown && `there is no option ${unknown} in: ${words}`
}
