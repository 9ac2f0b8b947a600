import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { codeOf, EmbeddedError } from './error.ts'
import { syncFolder, writeFor } from './file.ts'
import type { Home } from './home.ts'

// Who may do what. The superuser, whose name is the one that it has in every data folder since the first version, has
// no password and no way in. Tollgate is the owner of one database.
export const superuser = 'tollgate'
export const application = 'tollgate_app'
export const database = 'tollgate'

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

const firstWords = '# Written by Tollgate'

// The rules of a database that is as it should be. They also say for which password, so that a start which was cut
// off, or a password that was lost, is seen by looking at them: they are written last.
const rules = (
  password: string,
) => `${firstWords}, which replaces this file when it differs. A Tollgate that is turned away by it is a former
# version, which may not use this data folder any more: start the one that wrote this.
# The password is the one in postgres.pgpass (${createHash('sha256').update(password).digest('hex')}).
local all ${superuser} reject
local all all scram-sha-256
`

const rulesFile = 'pg_hba.conf'

export function isClosed({ cluster, password }: Pick<Home, 'cluster' | 'password'>): boolean {
  const file = join(cluster, rulesFile)
  return existsSync(file) && readFileSync(file, 'utf8') === rules(password)
}

// Whether a former version made it, and nobody has taken it over yet.
export function isFormers(cluster: string): boolean {
  const file = join(cluster, rulesFile)
  return existsSync(file) && !readFileSync(file, 'utf8').startsWith(firstWords)
}

export const close = (home: Home) => replace(home, rulesFile, rules(home.password))

// As long as the superuser is needed: for who runs Tollgate, as the system knows him, and for nobody else.
export function openForUs(home: Home) {
  replace(home, 'keeper_ident.conf', `us "${userInfo().username}" ${superuser}\n`)
  replace(home, 'keeper_hba.conf', `local all ${superuser} peer map=us\n`)
}

function replace({ cluster }: Home, name: string, text: string) {
  const draft = join(cluster, `${name}.${randomBytes(8).toString('hex')}`)
  writeFor(statSync(cluster), draft, text)
  renameSync(draft, join(cluster, name))
  syncFolder(cluster)
}
