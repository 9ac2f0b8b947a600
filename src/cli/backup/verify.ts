import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { checkContent, type ContentReport } from '../../actions/backups/checkContent.ts'
import type { BackupSource } from '../../actions/backups/readBackup.ts'
import { restoreBackup } from '../../actions/backups/restoreBackup.ts'
import { readConfig } from '../../config.ts'
import type { BackupManifest } from '../../core/backup/manifest.ts'
import { isMade } from '../../postgres/dataFolder.ts'
import { readClock } from '../../runtime/databaseClock.ts'
import { openScratchDatabase } from '../../start/scratchDatabase.ts'
import { recordVerified } from '../../store/backups/backups.ts'
import { openDb } from '../../store/db.ts'
import type { CliCommand } from '../cliCommand.ts'
import { withDatabase } from '../database.ts'
import type { Output } from '../output.ts'
import { printProgress } from '../terminal.ts'
import { backupOutput, withContent, withMore } from './output.ts'
import { readPassphrase } from './passphrase.ts'
import { progressReporter } from './progress.ts'

const scratchPoolSize = 2
const reportEveryMerchants = 100

type Options = { passphraseFile?: string; scratch?: string }

export const addVerify = (backup: CliCommand) =>
  backup
    .command('verify <file>')
    .description(
      'Restore a backup into a scratch database, compare counts, sums and checksums, recompute the seals of the ledger and ' +
        'of the audit log, and remove the scratch database. Fails if anything differs.',
    )
    .option('--passphrase-file <file>', 'the passphrase of an encrypted backup')
    .option('--scratch <url>', 'create the scratch database on this server, instead of a private one')
    .examples('tollgate backup verify tollgate-20260531T020000Z-1f2a.tar.gz')
    .run((file: string, options: Options) => verify(file, options, backup.json))

async function verify(file: string, options: Options, json: boolean): Promise<Output> {
  const passphrase = await readPassphrase(options.passphraseFile)
  const { size } = await stat(file)
  const { manifest, content } = await verifyBackup(
    { path: file, passphrase },
    { scratchUrl: options.scratch, json },
  )
  const recorded = content.faults.length === 0 && (await recordHere(manifest.head.backup_id))
  const output = backupOutput(manifest, { file, bytes: size, is_encrypted: passphrase !== undefined })
  return withContent(withMore(output, { recorded }), content)
}

// Restores a backup into a scratch database, and recomputes what can be recomputed there.
export async function verifyBackup(
  source: BackupSource,
  { scratchUrl, json }: { scratchUrl: string | undefined; json: boolean },
): Promise<{ manifest: BackupManifest; content: ContentReport }> {
  printProgress('Making a scratch database.')
  const scratch = await openScratchDatabase(scratchUrl)
  const db = openDb(scratch.url, scratchPoolSize)
  try {
    const clock = await readClock(db)
    const onProgress = progressReporter(json, 'Restored')
    const manifest = await restoreBackup(db, source, { clock, onProgress, onMigration: printProgress })
    const content = await checkContent(db, clock(), (done, all) => {
      if (done % reportEveryMerchants === 0)
        printProgress(`Verified the ledger of ${done} of ${all} merchants.`)
    })
    return { manifest, content }
  } finally {
    await db.end()
    await scratch.remove()
  }
}

// A backup may be verified on a machine that has another database, or none. Returns whether it was recorded.
async function recordHere(backup_id: string): Promise<boolean> {
  const { DATABASE_URL, TOLLGATE_DATA_DIR } = readConfig()
  if (!DATABASE_URL && !isMade(join(TOLLGATE_DATA_DIR, 'postgres'))) return false
  try {
    return await withDatabase(({ db, clock }) => recordVerified(db, backup_id, clock()))
  } catch (error) {
    printProgress(`That it was verified could not be recorded: ${(error as Error).message}`)
    return false
  }
}
