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
import { superuser } from './access.ts'
import { here, run } from './childProcess.ts'
import { codeOf, EmbeddedError, explain } from './error.ts'
import { type DataFolder, isMade } from './folder/dataFolder.ts'
import { syncFolder } from './folder/file.ts'
import { isAlive } from './folder/postmasterPid.ts'
import { closeCluster } from './keeper.ts'
import { reasonIn } from './serverLog.ts'
import { isPrivate, nobody, type User } from './user.ts'

const draftLifeMs = 10 * 60_000

// Makes the database files on the first start. They get their final name only when whole, so a start that
// is cut off leaves a draft and never half a database; of two first starts the slower one throws its away.
export async function initCluster(home: DataFolder) {
  sweepDrafts(home)
  if (isMade(home.cluster)) return
  const draft = mkdtempSync(`${home.cluster}.new-${process.pid}-`) // ours alone, whoever owns what is in it
  try {
    const cluster = join(draft, 'postgres')
    mkdirSync(cluster, { mode: 0o700 })
    await fill(home, cluster)
    await closeCluster({ ...home, cluster }, undefined)
    renameSync(cluster, home.cluster)
    syncFolder(home.dataDir)
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) throw error
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

// The name of the user who runs it must be known to the system, or initdb gives up. So it runs as nobody, but in a
// group that nobody has: whoever else runs as nobody cannot look into it, nor find the way to its files.
async function fill(home: DataFolder, cluster: string) {
  const runAs = home.runAs && { uid: nobody.uid, gid: home.runAs.gid }
  if (runAs) chownSync(cluster, runAs.uid, runAs.gid)
  // Not cleaned by initdb itself, so that we still see a full disk as full when it fails.
  const flags = ['-U', superuser, '--auth=reject', '-E', 'UTF8', '--locale=C', '--no-clean']
  const initdb = run({ ...home, runAs }, 'initdb', cluster, ['-D', here, ...flags])
  const how = await initdb.ended
  if (how !== 'exit code 0') throw explain(reasonIn(initdb.said()) ?? how, home.dataDir)
  if (home.runAs) giveFiles(cluster, home.runAs)
}

// Parents first: once a directory has its new owner, the old one cannot replace an entry in it by a link.
function giveFiles(folder: string, { uid, gid }: User) {
  each(folder, (path, found) => {
    refuseStrange(path, found)
    lchownSync(path, uid, gid)
    if (found.isDirectory()) chmodSync(path, 0o700)
  })
  spawnSync('sync', ['-f', folder]) // the owners are on the disk before the cluster gets its final name
}

function refuseStrange(path: string, found: Stats) {
  const isPlain = found.isDirectory() || (found.isFile() && found.nlink === 1)
  if (isPlain && (found.uid === nobody.uid || isPrivate(found.uid))) return
  throw new EmbeddedError(
    `The database files are to be given to a user of their own, but ${path} is none that PostgreSQL made ` +
      '(it is a link, has a second name, or belongs to somebody else): move it away and start again.',
  )
}

function each(path: string, visit: (path: string, found: Stats) => void) {
  try {
    const found = lstatSync(path)
    visit(path, found)
    if (found.isDirectory()) for (const name of readdirSync(path)) each(join(path, name), visit)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error // another start removes a stale draft
  }
}

// Drafts carry the process id of their maker. One whose maker is gone, or that is far too old, is litter.
function sweepDrafts({ cluster, dataDir }: DataFolder) {
  for (const name of readdirSync(dataDir)) {
    const maker = new RegExp(`^${basename(cluster)}\\.new-(\\d+)-`).exec(name)?.[1]
    if (maker === undefined) continue
    try {
      const age = Date.now() - statSync(join(dataDir, name)).mtimeMs
      if (age > draftLifeMs || !isAlive(Number(maker))) rmSync(join(dataDir, name), { recursive: true })
    } catch {
      // its initdb is still on the way out: the next start sweeps again
    }
  }
}
