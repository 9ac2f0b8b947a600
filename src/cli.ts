import { CommanderError } from 'commander'
import { onBug } from './cli/bugs.ts'
import { exitCodes } from './cli/exitCodes.ts'
import { failureOf } from './cli/failure.ts'
import { helpHint } from './cli/help.ts'
import { createCli, printFailure } from './cli/output.ts'
import { createProgram } from './cli/program.ts'

const words = process.argv.slice(2)
const json = words.includes('--json') // looked for by hand: mistakes in the other words are told in JSON too
const program = createProgram(createCli(json))

// The reader may go before we are done (`tollgate payment list | head`); what we do is done all the same.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
onBug(fail)

try {
  if (words.length === 0) program.outputHelp()
  else await program.parseAsync()
} catch (error) {
  fail(error)
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
