import { randomBytes } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { audited } from '../../actions/access/audit.ts'
import {
  alreadyThere,
  createBackup,
  nameVerified,
  unverifiedEnding,
} from '../../actions/backups/createBackup.ts'
import type { ContentReport } from '../../actions/backups/checkContent.ts'
import { type BackupSource, checkBackupFile } from '../../actions/backups/readBackup.ts'
import { BackupFault } from '../../core/backup/fault.ts'
import { paymentsIn } from '../../core/backup/manifest.ts'
import { addBackup } from '../../store/backups/backups.ts'
import type { CliCommand } from '../cliCommand.ts'
import type { CommandContext } from '../database.ts'
import { refused } from '../failure.ts'
import type { Output } from '../output.ts'
import { readLimit } from '../values.ts'
import { version } from '../version.ts'
import { keepNewest, removeAbandoned } from './keep.ts'
import { backupOutput, withContent, withMore } from './output.ts'
import { readPassphrase } from './passphrase.ts'
import { progressReporter } from './progress.ts'
import { addVerify, verifyBackup } from './verify.ts'

type Options = { out: string; passphraseFile?: string; verify?: true; keep?: number }

export function addBackupCommands(program: CliCommand) {
  const backup = program
    .command('backup')
    .description('Write all data of one moment to a file, and check such files.')
    .examples('tollgate backup --out /var/backups/tollgate/', 'tollgate backup verify FILE')
  backup
    .command('create', { isDefault: true })
    .description(
      'Write all data of one moment to a file, while the gateway runs; "create" may be left out. The master key is not in ' +
        'it: store it elsewhere.',
    )
    .option('--out <path>', 'the file; or a folder, in which the file gets the time as its name', '.')
    .option('--passphrase-file <file>', 'encrypt it with the first line of this file')
    .option(
      '--verify',
      'restore it into a scratch database at once, as "verify" does; it counts only if it fits',
    )
    .option('--keep <count>', 'then remove all but the newest ones from the folder', readLimit)
    .examples(
      'tollgate backup --out /var/backups/tollgate/ --keep 14',
      'tollgate backup --out /var/backups/tollgate/ --passphrase-file /etc/tollgate/backup_passphrase --verify',
    )
    .runWithDatabase((context, options: Options) => create(context, options, program.json))
  addVerify(backup)
  backup
    .command('show <file>')
    .description('Read a backup to its end, check every checksum, and show what is in it. Needs no database.')
    .option('--passphrase-file <file>', 'the passphrase of an encrypted backup')
    .examples('tollgate backup show tollgate-20260531T020000Z-1f2a.tar.gz')
    .run(show)
}

async function create(
  { db, clock, actor }: CommandContext,
  options: Options,
  json: boolean,
): Promise<Output> {
  const passphrase = await readPassphrase(options.passphraseFile)
  const is_encrypted = passphrase !== undefined
  const backup_id = newBackupId(clock())
  if (options.keep && !(await isFolder(options.out))) throw refused('--keep needs a folder: --out FOLDER/')
  const name = await pathOf(options.out, `tollgate-${backup_id}.tar.gz${is_encrypted ? '.enc' : ''}`)
  if (options.verify && (await stat(name).catch(() => undefined))) throw new BackupFault(alreadyThere(name))
  const path = options.verify ? name + unverifiedEnding : name
  const onProgress = progressReporter(json, 'Written')
  const manifest = await createBackup(db.url, path, { backup_id, version, passphrase, onProgress })
  const { size } = await stat(path)
  const finished_at = clock()
  const payments = paymentsIn(manifest)
  const row = {
    backup_id,
    taken_at: new Date(manifest.head.taken_at),
    finished_at,
    bytes: BigInt(size),
    payments: BigInt(payments),
    is_encrypted,
  }
  await audited(db, actor, finished_at, async (tx, record) => {
    if (!options.verify) await addBackup(tx, { ...row, verified_at: null })
    const after = { bytes: size, payments, is_encrypted }
    await record({ merchant_id: null, action: 'backup.create', subject: backup_id, before: null, after })
  })
  const abandoned = options.keep ? await removeAbandoned(dirname(path)) : []
  const keepCount = async () => (options.keep ? keepNewest(dirname(path), options.keep) : [])
  const output = (file: string, removed: string[]) =>
    withMore(
      backupOutput(manifest, { file, bytes: size, is_encrypted }),
      { removed },
      removed.length > 0 && `Removed: ${removed.join(', ')}`,
    )
  if (!options.verify) return output(path, [...(await keepCount()), ...abandoned])

  // Only a backup that fits is recorded and replaces older ones: the age of the last one, which alerts and doctor read, is
  // otherwise that of a file that nobody can restore.
  const content = await verifyNew({ path, passphrase }, json)
  if (content.faults.length > 0) return withContent(output(path, abandoned), content)
  await nameVerified(path, name)
  await addBackup(db, { ...row, verified_at: clock() })
  return withContent(output(name, [...(await keepCount()), ...abandoned]), content)
}

async function verifyNew(source: BackupSource, json: boolean): Promise<ContentReport> {
  try {
    return (await verifyBackup(source, { scratchUrl: undefined, json })).content
  } catch (error) {
    if (!json)
      process.stderr.write(`The backup ${source.path} was not verified, so it is not recorded as a backup.\n`)
    throw error
  }
}

// Sorts by time. Two backups of one second differ.
const newBackupId = (now: Date) =>
  `${now.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z-${randomBytes(2).toString('hex')}`

const pathOf = async (out: string, name: string) => ((await isFolder(out)) ? join(out, name) : out)

// A path that ends with a slash is meant as one.
const isFolder = async (path: string) =>
  path.endsWith('/') || (await stat(path).catch(() => undefined))?.isDirectory() === true

async function show(file: string, { passphraseFile }: { passphraseFile?: string }): Promise<Output> {
  const passphrase = await readPassphrase(passphraseFile)
  const manifest = await checkBackupFile({ path: file, passphrase })
  const { size } = await stat(file)
  return backupOutput(manifest, { file, bytes: size, is_encrypted: passphrase !== undefined })
}
