import { accessSync, constants, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import type { TestProject } from 'vitest/node'
import { asSuperuser } from '../../../src/postgres/access.ts'
import { openDataFolder } from '../../../src/postgres/dataFolder.ts'
import { startEmbedded } from '../../../src/postgres/embedded.ts'
import { openDb } from '../../../src/store/db.ts'
import { migrate } from '../../../src/store/migrate/migrate.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    isProof: boolean // long walks, and a database that waits for its disk
    databaseUrl: string
    migratedDatabase: string // its name, as a template for copies
  }
}

const template = 'tollgate_migrated'

// One real PostgreSQL server for the whole run; each test file creates its own databases on it.
export default async function setup(project: TestProject) {
  const place = project.config.provide.isProof ? tmpdir() : placeInMemory()
  const dataDir = mkdtempSync(join(place, 'tollgate-test-'))
  await (await startEmbedded(dataDir, 'command')).stop()
  await mayMakeDatabases(dataDir)
  const embedded = await startEmbedded(dataDir, 'command')
  await makeTemplate(embedded.url)
  project.provide('databaseUrl', embedded.url)
  project.provide('migratedDatabase', template)
  return async () => {
    await embedded.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

// A memory file system is fast, and all settings stay as a gateway requires them. The proofs use a real disk.
function placeInMemory(): string {
  try {
    accessSync('/dev/shm', constants.W_OK)
    const { bavail, bsize } = statfsSync('/dev/shm')
    return bavail * bsize > enough ? '/dev/shm' : tmpdir()
  } catch {
    return tmpdir()
  }
}

const enough = 2 * 2 ** 30 // bytes; containers often have 64 MB there

// Tests use the role of the application, which normally may not create databases.
const mayMakeDatabases = (dataDir: string) =>
  asSuperuser(openDataFolder(dataDir), undefined, [
    ['postgres', 'alter role tollgate_app createdb createrole'],
  ])

// Migrated once, and copied for each test file that needs a migrated database. It can only be copied while no session is
// connected, not even autovacuum.
async function makeTemplate(url: string) {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(`create database ${template}`)
  const db = openDb(url.replace('/tollgate?', `/${template}?`), 1)
  await migrate(db)
  await db.end()
  await client.query(`alter database ${template} allow_connections false`)
  await client.end()
}
