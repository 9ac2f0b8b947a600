import { CommanderError } from 'commander'
import { exitCodes } from './exitCodes.ts'
import { failureOf } from './failure.ts'
import { helpHint } from './help.ts'
import { createCli, printFailure } from './output.ts'
import { createProgram } from './program.ts'

// What a person has typed behind `tollgate`: it answers on standard output, or fails on standard error with an exit code.
export function createCommand(words: readonly string[]) {
  const json = words.includes('--json') // looked for by hand: mistakes in the other words are told in JSON too
  const program = createProgram(createCli(json))

  async function run() {
    try {
      if (words.length === 0) program.outputHelp()
      else await program.parseAsync(words, { from: 'user' })
    } catch (error) {
      fail(error)
    }
  }

  function fail(error: unknown) {
    if (error instanceof CommanderError && error.exitCode === 0) return // help or version, asked for and shown
    const failure = failureOf(error)
    process.exitCode = failure.exit
    const isHelp = error instanceof CommanderError && error.code === 'commander.help' // a word is missing
    if (isHelp && !json) return
    if (isHelp) failure.message = 'A command is missing.'
    if (failure.exit === exitCodes.usage) failure.message += ` ${helpHint(program, words)}`
    printFailure(json, failure)
  }

  return { run, fail }
}
