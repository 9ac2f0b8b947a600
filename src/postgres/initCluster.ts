import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { secureCluster } from './access.ts'
import { here, reasonIn, run } from './childProcess.ts'
import { type DataFolder, isMade } from './dataFolder.ts'
import { codeOf, EmbeddedError, explain } from './error.ts'
import { syncFolder } from './files.ts'
import { isAlive } from './postmasterPid.ts'
import { superuser } from './session.ts'
import { isPrivate, nobodyUser, type User } from './user.ts'

const draftLifeMs = 10 * 60_000

// Creates the database files on the first start. They get their final name when they are complete: a start that is
// interrupted leaves a draft, which the next one removes. Of two first starts, the slower one drops its draft.
export async function initCluster(home: DataFolder) {
  removeStaleDrafts(home)
  if (isMade(home.cluster)) return
  const draft = mkdtempSync(`${home.cluster}.new-${process.pid}-`) // only the current user may enter it
  try {
    const cluster = join(draft, 'postgres')
    mkdirSync(cluster, { mode: 0o700 })
    await runInitdb(home, cluster)
    await secureCluster({ ...home, cluster }, undefined)
    renameSync(cluster, home.cluster)
    syncFolder(home.dataDir)
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) throw error
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

// initdb requires a user that has a name. So it runs as `nobody`, in a group without members: other processes of that user
// can neither trace it nor reach its files.
async function runInitdb(home: DataFolder, cluster: string) {
  const runAs = home.runAs && { uid: nobodyUser.uid, gid: home.runAs.gid }
  if (runAs) chownSync(cluster, runAs.uid, runAs.gid)
  // Without --no-clean a failed initdb would remove its files, and a full disk could not be recognised any more.
  const flags = ['-U', superuser, '--auth=reject', '-E', 'UTF8', '--locale=C', '--no-clean']
  const initdb = run({ ...home, runAs }, 'initdb', cluster, ['-D', here, ...flags])
  const how = await initdb.ended
  if (how !== 'exit code 0') throw explain(reasonIn(initdb.output()) ?? how, home.dataDir)
  if (home.runAs) giveFiles(cluster, home.runAs)
}

// Parents first: when a directory has its new owner, the old one cannot replace an entry in it by a link.
function giveFiles(folder: string, { uid, gid }: User) {
  each(folder, (path, stats) => {
    checkMadeByInitdb(path, stats)
    lchownSync(path, uid, gid)
    if (stats.isDirectory()) chmodSync(path, 0o700)
  })
  spawnSync('sync', ['-f', folder]) // the owners are on the disk before the cluster gets its final name
}

function checkMadeByInitdb(path: string, stats: Stats) {
  const isPlain = stats.isDirectory() || (stats.isFile() && stats.nlink === 1)
  if (isPlain && (stats.uid === nobodyUser.uid || isPrivate(stats.uid))) return
  throw new EmbeddedError(
    `The database files get a dedicated user, but PostgreSQL has not created ${path} ` +
      '(it is a link, has a second name, or belongs to another user): move it away and start again.',
  )
}

function each(path: string, visit: (path: string, stats: Stats) => void) {
  try {
    const stats = lstatSync(path)
    visit(path, stats)
    if (stats.isDirectory()) for (const name of readdirSync(path)) each(join(path, name), visit)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error // another start has removed a stale draft
  }
}

// The name of a draft contains the process id of its start. It is removed if that process has ended or if it is too old.
function removeStaleDrafts({ cluster, dataDir }: DataFolder) {
  for (const name of readdirSync(dataDir)) {
    const pid = new RegExp(`^${basename(cluster)}\\.new-(\\d+)-`).exec(name)?.[1]
    if (pid === undefined) continue
    try {
      const age = Date.now() - statSync(join(dataDir, name)).mtimeMs
      if (age > draftLifeMs || !isAlive(Number(pid))) rmSync(join(dataDir, name), { recursive: true })
    } catch {
      // its initdb has not ended yet: the next start removes it
    }
  }
}
