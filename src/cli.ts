import { onBug } from './cli/bugs.ts'
import { createCommand } from './cli/command.ts'

const command = createCommand(process.argv.slice(2))

// The reader may go before we are done (`tollgate payment list | head`); what we do is done all the same.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
onBug(command.fail)
await command.run()
