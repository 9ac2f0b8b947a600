import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { here } from './childProcess.ts'
import type { DataFolder } from './dataFolder.ts'
import { draftOf, syncFolder, writeForOwner } from './files.ts'
import { launch, stopProgram } from './server.ts'
import { appDatabase, appRole, type Login, queryOnce, superuser } from './session.ts'

// Roles and access rules of the private server. The superuser cannot log in. It is used only on a
// maintenance server, which accepts no other connection, to create the role and the database of the application.

// The rules contain a digest of the password and are written last. So they differ after a setup that was interrupted, and
// after the password file was lost or replaced.
const accessRules = (password: string) => `# Written by Tollgate, which replaces this file when it differs.
# The password is the one in postgres.pgpass (${createHash('sha256').update(password).digest('hex')}).
local all ${superuser} reject
local all all scram-sha-256
`

const rulesFile = 'pg_hba.conf'

export function isSecured({ cluster, password }: Pick<DataFolder, 'cluster' | 'password'>): boolean {
  const file = join(cluster, rulesFile)
  return existsSync(file) && readFileSync(file, 'utf8') === accessRules(password)
}

// Creates the role and the database of the application, with the password in postgres.pgpass: in a new cluster, and after
// the password file was lost or replaced. It can be repeated after an interruption at any point. Returns false if another
// server has the files.
export async function secureCluster(home: DataFolder, stalePid: number | undefined): Promise<boolean> {
  if (isSecured(home)) return true
  const done = await asSuperuser(home, stalePid, appRoleStatements(home.password))
  if (done) replaceFile(home, rulesFile, accessRules(home.password))
  return done
}

type DatabaseStatement = [database: string, statement: string]

export const appRoleStatements = (password: string): DatabaseStatement[] => [
  ['postgres', createRole],
  ['postgres', `${oneIteration}; alter role ${appRole} ${roleAttributes} password '${password}'`],
  ['postgres', `alter database ${appDatabase} owner to ${appRole}`],
]

const createRole = `do $$ begin
  if not exists (select from pg_roles where rolname = '${appRole}') then create role ${appRole}; end if;
end $$`

// A password of 256 random bits gains nothing from 4,096 iterations, which each connection would have to compute.
const oneIteration = 'set scram_iterations = 1'

const roleAttributes = 'login inherit nosuperuser nocreatedb nocreaterole noreplication nobypassrls'

const maintenanceRules = {
  hba_file: `${here}/maintenance_hba.conf`,
  ident_file: `${here}/maintenance_ident.conf`,
}

// Runs the statements on a maintenance server. Returns false if another server has the files.
export async function asSuperuser(
  home: DataFolder,
  stalePid: number | undefined,
  statements: DatabaseStatement[],
) {
  // Only the operating-system user that runs Tollgate may connect.
  replaceFile(home, 'maintenance_ident.conf', `us "${userInfo().username}" ${superuser}\n`)
  replaceFile(home, 'maintenance_hba.conf', `local all ${superuser} peer map=us\n`)
  const server = await launch(home, stalePid, { settings: maintenanceRules })
  if (!server) return false
  try {
    await ensureDatabase(server.sockets)
    for (const [name, statement] of statements)
      await queryOnce(server.sockets, superuserLogin(name), statement)
  } finally {
    await stopProgram(server.program, 0)
    rmSync(server.sockets, { recursive: true, force: true })
  }
  return true
}

async function ensureDatabase(sockets: string) {
  const login = superuserLogin('postgres')
  const rows = await queryOnce(sockets, login, `select from pg_database where datname = '${appDatabase}'`)
  if (rows.length === 0) await queryOnce(sockets, login, `create database ${appDatabase}`)
}

const superuserLogin = (database: string): Login => ({ user: superuser, database })

function replaceFile({ cluster }: DataFolder, name: string, text: string) {
  const path = join(cluster, name)
  const draft = draftOf(path)
  writeForOwner(statSync(cluster), draft, text)
  renameSync(draft, path)
  syncFolder(cluster)
}
