import { readConfig } from '../config.ts'
import { checkDatabase, openDatabase } from '../start/database.ts'
import { migrate } from '../store/migrate/migrate.ts'
import { migrationNames } from '../store/migrate/migrationList.ts'
import type { CliCommand } from './help.ts'
import type { Cli, Output } from './output.ts'

export function addMigrate(program: CliCommand, cli: Cli) {
  program
    .command('migrate')
    .description('Migrate the database to this version. Safe to repeat, and to run on several nodes at once.')
    .examples('tollgate migrate', 'tollgate migrate --json')
    .action(async () => cli.print(await runMigrations(cli)))
}

async function runMigrations(cli: Cli): Promise<Output> {
  const database = await openDatabase(readConfig(), 'command')
  try {
    await checkDatabase(database, migrationNames(), { durable: false })
    const applied = await migrate(database.db, {
      onProgress: text => cli.json || process.stderr.write(`${text}\n`),
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
