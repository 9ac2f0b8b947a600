import { spawnSync } from 'node:child_process'
import { chmodSync, lchownSync, lstatSync, readdirSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { isClosed } from './access.ts'
import { codeOf, EmbeddedError } from './error.ts'
import type { DataFolder } from './folder/dataFolder.ts'
import { readPostmaster } from './folder/postmasterPid.ts'
import { closeCluster } from './keeper.ts'
import { isPrivate, nobody, type User } from './user.ts'

// Brings a database of a former version, or one whose last take-over was cut off, to where it should be. Each step can
// be done again, and the one that shows that all is done comes last. False: somebody has the files.
export async function takeOver(home: DataFolder, stalePid: number | undefined): Promise<boolean> {
  if (isClosed(home)) return true
  const { cluster, runAs } = home
  if (runAs && isPrivate(runAs.uid)) {
    if (statSync(cluster).uid === nobody.uid && !takeFolder(cluster, runAs)) return false
    giveFiles(cluster, runAs)
  }
  return closeCluster(home, stalePid)
}

// Once the folder is ours a server of before cannot start there any more; one that was just quicker keeps it.
function takeFolder(cluster: string, user: User): boolean {
  each(cluster, refuseStrange) // before anything is changed
  lchownSync(cluster, user.uid, user.gid)
  if (!readPostmaster(cluster)?.alive) return true
  lchownSync(cluster, nobody.uid, nobody.gid)
  return false
}

// From above to below: in a folder that has changed hands nobody can put a link in the place of what comes next.
export function giveFiles(folder: string, { uid, gid }: User) {
  each(folder, (path, found) => {
    refuseStrange(path, found)
    lchownSync(path, uid, gid)
    if (found.isDirectory()) chmodSync(path, 0o700)
  })
  spawnSync('sync', ['-f', folder]) // what comes next must not be on the disk before this
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
    if (codeOf(error) !== 'ENOENT') throw error // another start tidies up
  }
}
