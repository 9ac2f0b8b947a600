import { readConfig } from '../config.ts'
import { checkDatabase, openDatabase } from '../start/database.ts'
import { migrate } from '../store/migrate/migrate.ts'
import { migrationNames } from '../store/migrate/migrationList.ts'
import type { CliCommand } from './cliCommand.ts'
import type { Output } from './output.ts'

export function addMigrate(program: CliCommand) {
  program
    .command('migrate')
    .description('Migrate the database to this version. Safe to repeat, and to run on several nodes at once.')
    .examples('tollgate migrate', 'tollgate migrate --json')
    .run(() => runMigrations(program.json))
}

async function runMigrations(json: boolean): Promise<Output> {
  const database = await openDatabase(readConfig(), 'command')
  try {
    await checkDatabase(database, migrationNames(), { durable: false })
    const applied = await migrate(database.db, {
      onProgress: text => json || process.stderr.write(`${text}\n`),
    })
    const text =
      applied.length > 0
        ? ['Applied:', ...applied.map(name => `  ${name}`)].join('\n')
        : 'The database is up to date.'
    return { data: { applied }, text }
  } finally {
    await database.close()
  }
}
