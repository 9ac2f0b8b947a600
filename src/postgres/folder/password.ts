import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, linkSync, lstatSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf, EmbeddedError } from '../error.ts'
import { syncFolder, writeFor } from './file.ts'

export const application = 'tollgate_app' // the role that the password lets in

// One line as psql and its brothers read it (PGPASSFILE), for the owner of the data folder alone. Two processes may
// start at once on a new folder: both prepare a password, and the link lets one of them win.
export function applicationPassword(dataDir: string): string {
  const file = join(dataDir, 'postgres.pgpass')
  if (!existsSync(file)) {
    const draft = `${file}.${randomBytes(8).toString('hex')}`
    writeFor(statSync(dataDir), draft, `*:*:*:${application}:${randomBytes(32).toString('hex')}\n`)
    try {
      linkSync(draft, file)
      syncFolder(dataDir)
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    } finally {
      rmSync(draft)
    }
  }
  return readPassword(file, statSync(dataDir).uid)
}

function readPassword(file: string, owner: number): string {
  const { uid } = lstatSync(file)
  if (![owner, 0, process.getuid?.()].includes(uid) || !lstatSync(file).isFile())
    throw new EmbeddedError(
      `${file} was put there by somebody else (user ${uid}): remove it and start again.`,
    )
  if (statSync(file).mode & 0o077) chmodSync(file, 0o600) // copied by hand
  const password = /^\*:\*:\*:tollgate_app:([0-9a-f]{64})\n$/.exec(readFileSync(file, 'utf8'))?.[1]
  if (password !== undefined) return password
  throw new EmbeddedError(
    `${file} does not hold the password of the database: stop Tollgate and remove it, the next start makes another.`,
  )
}
