import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import type { DataFolder } from './folder/dataFolder.ts'
import { syncFolder, writeFor } from './folder/file.ts'

// Access rules of the cluster. The superuser has no password and cannot log in. Tollgate owns one database.
export const superuser = 'tollgate'
export const database = 'tollgate'

// The file names a digest of the password and is written last. So a setup that was interrupted, or a password file that
// was lost or replaced, shows as a difference.
const rules = (password: string) => `# Written by Tollgate, which replaces this file when it differs.
# The password is the one in postgres.pgpass (${createHash('sha256').update(password).digest('hex')}).
local all ${superuser} reject
local all all scram-sha-256
`

const rulesFile = 'pg_hba.conf'

export function isClosed({ cluster, password }: Pick<DataFolder, 'cluster' | 'password'>): boolean {
  const file = join(cluster, rulesFile)
  return existsSync(file) && readFileSync(file, 'utf8') === rules(password)
}

export const close = (home: DataFolder) => replace(home, rulesFile, rules(home.password))

// Lets the operating-system user that runs Tollgate, and no other, in as the superuser. Only the rules of a maintenance
// server refer to these files.
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
