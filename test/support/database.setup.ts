import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startEmbedded } from '../../src/postgres/embedded.ts'
import { openDataFolder } from '../../src/postgres/folder/dataFolder.ts'
import { asSuperuser } from '../../src/postgres/keeper.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    databaseUrl: string
  }
}

// One real PostgreSQL for the whole run; each test file makes databases of its own on it.
export default async function setup(project: TestProject) {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
  await (await startEmbedded(dataDir, 'command')).stop()
  await mayMakeDatabases(dataDir)
  const embedded = await startEmbedded(dataDir, 'command')
  project.provide('databaseUrl', embedded.url)
  return async () => {
    await embedded.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

// Tests use the role of the application, which may not do this otherwise.
const mayMakeDatabases = (dataDir: string) =>
  asSuperuser(openDataFolder(dataDir), undefined, [
    ['postgres', 'alter role tollgate_app createdb createrole'],
  ])
