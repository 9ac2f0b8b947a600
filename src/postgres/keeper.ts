import { rmSync } from 'node:fs'
import { close, database, isClosed, openForUs, superuser } from './access.ts'
import { here } from './childProcess.ts'
import type { DataFolder } from './folder/dataFolder.ts'
import { application } from './folder/password.ts'
import { launch, stopProgram } from './server.ts'
import { ask, type Login } from './session.ts'

const theKeepersRules = { hba_file: `${here}/keeper_hba.conf`, ident_file: `${here}/keeper_ident.conf` }

// Gives the application its role, its database and the password in postgres.pgpass: in a new cluster, and in one whose
// password file was lost or replaced. It can be repeated after it was interrupted. No other connection is accepted
// meanwhile. False: another server has the files.
export async function closeCluster(home: DataFolder, stalePid: number | undefined): Promise<boolean> {
  if (isClosed(home)) return true
  const done = await asSuperuser(home, stalePid, theApplicationsRole(home.password))
  if (done) close(home)
  return done
}

// May be interrupted after any of them.
export const theApplicationsRole = (password: string): Work => [
  ['postgres', makeRole],
  ['postgres', `${once}; alter role ${application} ${rights} password '${password}'`],
  ['postgres', `alter database ${database} owner to ${application}`],
]

type Work = [database: string, statement: string][]

// Statements for one database after the other, by a server that only we can reach. This is the only way in as
// superuser.
export async function asSuperuser(home: DataFolder, stalePid: number | undefined, work: Work) {
  openForUs(home)
  const server = await launch(home, stalePid, { settings: theKeepersRules })
  if (!server) return false
  try {
    await ensureDatabase(server.sockets)
    for (const [name, statement] of work) await ask(server.sockets, loginTo(name), statement)
  } finally {
    await stopProgram(server.program, 0)
    rmSync(server.sockets, { recursive: true, force: true })
  }
  return true
}

async function ensureDatabase(sockets: string) {
  const login = loginTo('postgres')
  const found = await ask(sockets, login, `select from pg_database where datname = '${database}'`)
  if (found.length === 0) await ask(sockets, login, `create database ${database}`)
}

export const loginTo = (name: string): Login => ({ user: superuser, database: name })

// A password of 256 random bits gains nothing from being hashed 4,096 times, and each connection would pay for it.
const once = 'set scram_iterations = 1'

const rights = 'login inherit nosuperuser nocreatedb nocreaterole noreplication nobypassrls'

const makeRole = `do $$ begin
  if not exists (select from pg_roles where rolname = '${application}') then create role ${application}; end if;
end $$`
