import { Command } from 'commander'
import { type CommandContext, withDatabase, withMasterKeys } from './database.ts'
import { type Output, printOutput } from './output.ts'
import { heading } from './terminal.ts'

// `never[]` accepts any parameters: Commander passes the declared arguments, then the options.
type Work = (context: CommandContext, ...args: never[]) => Promise<Output>

// A command of `tollgate`. `run`, `runWithDatabase` and `runWithMasterKeys` set what it does: a function that gets the
// arguments and the options of the command line, and returns what is printed.
export class CliCommand extends Command {
  readonly json: boolean
  constructor(json: boolean, name?: string) {
    super(name)
    this.json = json
  }
  override createCommand(name?: string) {
    return new CliCommand(this.json, name)
  }
  examples(...lines: string[]) {
    return this.addHelpText(
      'after',
      `\n${heading('Examples:')}\n${lines.map(line => `  $ ${line}`).join('\n')}`,
    )
  }
  print(output: Output) {
    printOutput(this.json, output)
  }
  run(work: (...args: never[]) => Promise<Output>) {
    return this.action(async (...args) => this.print(await work(...(args as never[]))))
  }
  runWithDatabase(work: Work) {
    return this.run((...args) => withDatabase(context => work(context, ...args)))
  }
  // For commands that seal or open secrets.
  runWithMasterKeys(work: Work) {
    return this.run((...args) => withMasterKeys(context => work(context, ...args)))
  }
}
