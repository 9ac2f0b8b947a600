import { rmSync } from 'node:fs'
import { close, database, isClosed, openForUs, superuser } from './access.ts'
import { here } from './childProcess.ts'
import type { DataFolder } from './folder/dataFolder.ts'
import { application } from './folder/password.ts'
import { launch, stopProgram } from './server.ts'
import { ask, type Login } from './session.ts'

const theKeepersRules = { hba_file: `${here}/keeper_hba.conf`, ident_file: `${here}/keeper_ident.conf` }

// Gives the application its role, its password and its database, as often as it is called, in one that is new or was
// made by a former version, where the application was the superuser and anybody who got to the socket was let in.
// Nobody else gets in meanwhile. False: another server has the files.
export async function closeCluster(home: DataFolder, stalePid: number | undefined): Promise<boolean> {
  if (isClosed(home)) return true
  const done = await asSuperuser(home, stalePid, theApplicationsRole(home.password))
  if (done) close(home)
  return done
}

// In an order in which any of them may be the last.
export const theApplicationsRole = (password: string): Work => [
  ['postgres', makeRole],
  ['postgres', `${once}; alter role ${application} ${rights} password '${password}'`],
  ['postgres', `alter role ${superuser} password null`],
  ['postgres', `alter database ${database} owner to ${application}`],
  [database, giveObjects],
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

// One by one: what belongs to the first superuser of a server cannot be given away as a whole. What an extension
// brought stays with it.
const giveObjects = `do $$
declare
  giving text;
  ours oid[] := array(
    select oid from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema');
begin
  for giving in
    select format('alter schema %I', nspname) from pg_namespace
      where oid = any(ours) and nspowner = '${superuser}'::regrole
    union all
    select format('alter table %s', oid::regclass) from pg_class c
      where relnamespace = any(ours) and relowner = '${superuser}'::regrole and relkind in ('r', 'p', 'v', 'm', 'S', 'f')
        and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = c.oid
          and (deptype = 'e' or relkind = 'S' and deptype in ('a', 'i')))
    union all
    select format('alter routine %s', oid::regprocedure) from pg_proc p
      where pronamespace = any(ours) and proowner = '${superuser}'::regrole
        and not exists (select from pg_depend where classid = 'pg_proc'::regclass and objid = p.oid and deptype = 'e')
    union all
    select format('alter type %s', oid::regtype) from pg_type t
      where typnamespace = any(ours) and typowner = '${superuser}'::regrole
        and (typtype in ('e', 'd', 'r') or (select relkind from pg_class where oid = typrelid) = 'c')
        and not exists (select from pg_depend where classid = 'pg_type'::regclass and objid = t.oid and deptype = 'e')
  loop
    execute giving || ' owner to ${application}';
  end loop;
end $$`
