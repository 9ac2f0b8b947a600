import { createCommand } from './cli/command.ts'
import { exitOnBug } from './cli/failure.ts'

const command = createCommand(process.argv.slice(2))

// The reader of a pipe may exit first (`tollgate payment list | head`). The command still finishes its work.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
exitOnBug(command.fail)
await command.run()
