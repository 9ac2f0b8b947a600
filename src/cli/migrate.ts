import type { CliCommand } from './cliCommand.ts'
import { withMigratedDatabase } from './database.ts'

export function addMigrate(program: CliCommand) {
  program
    .command('migrate')
    .description('Migrate the database to this version. Safe to repeat, and to run on several nodes at once.')
    .examples('tollgate migrate', 'tollgate migrate --json')
    .run(() =>
      withMigratedDatabase(
        text => program.json || process.stderr.write(`${text}\n`),
        async applied => ({ data: { applied }, text: appliedText(applied) }),
      ),
    )
}

const appliedText = (applied: readonly string[]) =>
  applied.length > 0
    ? ['Applied:', ...applied.map(name => `  ${name}`)].join('\n')
    : 'The database is up to date.'
