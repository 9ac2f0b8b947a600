import { InvalidArgumentError } from 'commander'
import { moveDatabase } from '../../actions/backups/moveDatabase.ts'
import { addressOfUrl } from '../../start/machine.ts'
import { openDb } from '../../store/db.ts'
import type { CliCommand } from '../cliCommand.ts'
import { type CommandContext, withDatabase } from '../database.ts'
import type { Output } from '../output.ts'
import { paragraphs, printProgress } from '../terminal.ts'
import { countText, progressReporter } from './progress.ts'

const targetPoolSize = 2

export const addMoveCommand = (program: CliCommand) =>
  program
    .command('move')
    .description(
      'Copy all data to an empty database, compare counts and sums, and make that one the real one. The present database stays ' +
        'as it is, and is marked as moved. Stop every node before. After an interruption, run it again before you start a node.',
    )
    .requiredOption(
      '--to <url>',
      'the new database, such as postgres://user:password@host:5432/tollgate',
      readUrl,
    )
    .examples('tollgate move --to postgres://tollgate:secret@db:5432/tollgate')
    .run(({ to }: { to: string }) => withDatabase(context => move(context, to, program.json)))

function readUrl(text: string): string {
  if (!/^postgres(ql)?:\/\/\S+$/.test(text))
    throw new InvalidArgumentError('It must be a URL such as postgres://user:password@host:5432/tollgate.')
  return text
}

async function move(
  { db, clock, address, embedded, actor }: CommandContext,
  url: string,
  json: boolean,
): Promise<Output> {
  const to = openDb(url, targetPoolSize)
  try {
    const toAddress = addressOfUrl(url)
    const { tables, wasCopiedBefore } = await moveDatabase(db, to, {
      fromAddress: address,
      toAddress,
      actor,
      clock,
      onProgress: progressReporter(json, 'Moved'),
      onMigration: printProgress,
    })
    const rows = tables.reduce((sum, table) => sum + table.rows, 0)
    return {
      data: { from: address, to: toAddress, rows, tables },
      text: paragraphs(
        `${wasCopiedBefore ? 'The copy was complete already. ' : ''}${countText(rows)} rows in ${tables.length} tables are ` +
          `in ${toAddress}, with the same counts and sums. The old database is unchanged, and marked as moved.`,
        'Start every node with DATABASE_URL set to the new database from now on.',
        embedded &&
          'The master key is still master.key in the data folder: keep it there, or set TOLLGATE_MASTER_KEY to it.',
      ),
    }
  } finally {
    await to.end()
  }
}
