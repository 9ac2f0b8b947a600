import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import type { TestProject } from 'vitest/node'
import { asSuperuser } from '../../../src/postgres/access.ts'
import { openDataFolder } from '../../../src/postgres/dataFolder.ts'
import { startEmbedded } from '../../../src/postgres/embedded.ts'
import { launch, stopServer } from '../../../src/postgres/server.ts'
import { socketUrl } from '../../../src/postgres/session.ts'
import { gatewayUser } from '../../../src/postgres/user.ts'
import { withDatabase } from '../../../src/store/backups/scratchDatabase.ts'
import { openDb } from '../../../src/store/db.ts'
import { migrate } from '../../../src/store/migrate/migrate.ts'
import { placeInMemory } from './placeInMemory.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    isProof: boolean // long walks, and a database that waits for its disk
    databaseUrl: string
    migratedDatabase: string // its name, as a template for copies
    isSharded: boolean // the server is the coordinator of a Citus cluster
  }
}

// One real PostgreSQL server for the whole run; each test file creates its own databases on it. It is a private one, or
// the one of TEST_DATABASE_URL.
export default async function setup(project: TestProject) {
  const server = process.env.TEST_DATABASE_URL
    ? await givenServer(process.env.TEST_DATABASE_URL)
    : await privateServer(project.config.provide.isProof ? tmpdir() : placeInMemory()) // the proofs use a real disk
  project.provide('databaseUrl', server.url)
  project.provide('isSharded', server.isSharded)
  if (server.isSharded) {
    project.provide('migratedDatabase', '') // Citus copies no database
    return server.stop
  }
  const template = `tollgate_migrated_${randomBytes(4).toString('hex')}`
  await makeTemplate(server.url, template)
  project.provide('migratedDatabase', template)
  return async () => {
    await onServer(server.url, client => client.query(`drop database ${template}`))
    await server.stop()
  }
}

async function privateServer(place: string) {
  const dataDir = mkdtempSync(join(place, 'tollgate-test-'))
  await (await startEmbedded(dataDir, 'command')).stop()
  await mayMakeDatabases(dataDir)
  const home = openDataFolder(dataDir)
  // More than a gateway needs, because several files run at once, some with four gateways.
  const group = home.runAs && gatewayUser()?.gid // a gateway that root starts may enter the folder of the socket
  const server = await launch(home, undefined, { settings: { max_connections: '200' }, group })
  if (!server) throw new Error(`Another server uses ${dataDir}.`)
  return {
    url: socketUrl(server.sockets, home.password),
    isSharded: false,
    async stop() {
      await stopServer(home, server, 10_000)
      await server.program.cleanedUp
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

// Tests use the role of the application, which normally may not create databases.
const mayMakeDatabases = (dataDir: string) =>
  asSuperuser(openDataFolder(dataDir), undefined, [
    ['postgres', 'alter role tollgate_app createdb createrole'],
  ])

async function givenServer(url: string) {
  const facts = `select current_user as role, current_setting('server_version') as version, rolcreatedb and rolcreaterole
    or rolsuper as allowed, exists (select from pg_extension where extname = 'citus') as sharded from pg_roles where rolname = current_user`
  const { rows } = await onServer(url, client => client.query(facts))
  const { role, version, allowed, sharded } = rows[0]
  if (!allowed)
    throw new Error(
      `TEST_DATABASE_URL: ${role} may not create databases and roles: alter role ${role} createdb createrole`,
    )
  console.warn(`The tests use PostgreSQL ${version} (TEST_DATABASE_URL), except those that start their own.`)
  return { url, isSharded: sharded as boolean, stop: async () => {} }
}

async function onServer<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

// Migrated once, and copied for each test file that needs a migrated database. It can only be copied while no session is
// connected, not even autovacuum.
const makeTemplate = (url: string, template: string) =>
  onServer(url, async client => {
    await client.query(`create database ${template}`)
    const db = openDb(withDatabase(url, template), 1)
    await migrate(db)
    await db.end()
    await client.query(`alter database ${template} allow_connections false`)
  })
