import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import type { DataFolder } from './folder/dataFolder.ts'
import { syncFolder, writeFor } from './folder/file.ts'

// Who may do what. The superuser, whose name is the one that it has in every data folder since the first version, has
// no password and no way in. Tollgate is the owner of one database.
export const superuser = 'tollgate'
export const database = 'tollgate'

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

export function isClosed({ cluster, password }: Pick<DataFolder, 'cluster' | 'password'>): boolean {
  const file = join(cluster, rulesFile)
  return existsSync(file) && readFileSync(file, 'utf8') === rules(password)
}

// Whether a former version made it, and nobody has taken it over yet.
export function isFormers(cluster: string): boolean {
  const file = join(cluster, rulesFile)
  return existsSync(file) && !readFileSync(file, 'utf8').startsWith(firstWords)
}

export const close = (home: DataFolder) => replace(home, rulesFile, rules(home.password))

// As long as the superuser is needed: for who runs Tollgate, as the system knows him, and for nobody else.
export function openForUs(home: DataFolder) {
  replace(home, 'keeper_ident.conf', `us "${userInfo().username}" ${superuser}\n`)
  replace(home, 'keeper_hba.conf', `local all ${superuser} peer map=us\n`)
}

function replace({ cluster }: DataFolder, name: string, text: string) {
  const draft = join(cluster, `${name}.${randomBytes(8).toString('hex')}`)
  writeFor(statSync(cluster), draft, text)
  renameSync(draft, join(cluster, name))
  syncFolder(cluster)
}
