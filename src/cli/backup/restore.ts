import { stat } from 'node:fs/promises'
import { restoreBackup } from '../../actions/backups/restoreBackup.ts'
import type { CliCommand } from '../cliCommand.ts'
import { withUnmigratedDatabase } from '../database.ts'
import type { Output } from '../output.ts'
import { printProgress } from '../terminal.ts'
import { backupOutput, withMore } from './output.ts'
import { readPassphrase } from './passphrase.ts'
import { progressReporter } from './progress.ts'

type Options = { passphraseFile?: string }

export function addRestoreCommand(program: CliCommand) {
  program
    .command('restore <file>')
    .description(
      'Fill an empty database with a backup: the one of DATABASE_URL or of the data folder. It is then a copy, whose nodes do ' +
        'not act until it is declared the real one.',
    )
    .option('--passphrase-file <file>', 'the passphrase of an encrypted backup')
    .examples(
      'TOLLGATE_DATA_DIR=/var/lib/tollgate-restored tollgate restore tollgate-20260531T020000Z-1f2a.tar.gz',
      'DATABASE_URL=postgres://tollgate:secret@db/restored tollgate restore tollgate-20260531T020000Z-1f2a.tar.gz',
    )
    .run((file: string, options: Options) => restore(file, options, program.json))
}

async function restore(file: string, { passphraseFile }: Options, json: boolean): Promise<Output> {
  const passphrase = await readPassphrase(passphraseFile)
  const { size } = await stat(file)
  return withUnmigratedDatabase(async ({ db, clock, masterKeys }) => {
    const manifest = await restoreBackup(
      db,
      { path: file, passphrase },
      { clock, onProgress: progressReporter(json, 'Restored'), onMigration: printProgress },
    )
    const missing_master_keys = manifest.head.master_keys.filter(id => !masterKeys.byId(id))
    const output = backupOutput(manifest, { file, bytes: size, is_encrypted: passphrase !== undefined })
    return withMore(
      output,
      { missing_master_keys },
      missing_master_keys.length > 0 &&
        `The master key ${missing_master_keys.join(', ')} is not here: set TOLLGATE_MASTER_KEY to it, or put it into ` +
          'master.key of the data folder, before you start a node.',
      'The database is restored, and marked as a copy: nodes on it do not act. tollgate adopt declares it the real one.',
    )
  })
}
