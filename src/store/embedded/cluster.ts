import {
  chownSync,
  closeSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { codeOf, explain } from './error.ts'
import { type Home, isMade } from './home.ts'
import { isAlive } from './holder.ts'
import { reasonIn } from './log.ts'
import { here, run } from './program.ts'

const draftLifeMs = 10 * 60_000

// Makes the database files on the first start. They get their final name only when whole, so a start that
// is cut off leaves a draft and never half a database; of two first starts the slower one throws its away.
export async function makeCluster(home: Home) {
  sweepDrafts(home)
  if (isMade(home.cluster)) return
  const draft = mkdtempSync(`${home.cluster}.new-${process.pid}-`)
  try {
    if (home.runAs) chownSync(draft, home.runAs.uid, home.runAs.gid)
    await fill(home, draft)
    renameSync(draft, home.cluster)
    syncFolder(home.dataDir)
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) throw error
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

async function fill(home: Home, draft: string) {
  // Not cleaned by initdb itself, so that we still see a full disk as full when it fails.
  const flags = ['-U', 'tollgate', '--auth=trust', '-E', 'UTF8', '--locale=C', '--no-clean']
  const initdb = run(home, 'initdb', draft, ['-D', here, ...flags])
  const how = await initdb.ended
  if (how !== 'exit code 0') throw explain(reasonIn(initdb.said()) ?? how, home.dataDir)
}

// Drafts carry the process id of their maker. One whose maker is gone, or that is far too old, is litter.
function sweepDrafts({ cluster, dataDir }: Home) {
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

function syncFolder(path: string) {
  const folder = openSync(path, 'r')
  fsyncSync(folder)
  closeSync(folder)
}
