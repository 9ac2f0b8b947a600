import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startEmbedded } from '../../src/store/embedded.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    databaseUrl: string
  }
}

// One real PostgreSQL for the whole run; each test file makes databases of its own on it.
export default async function setup(project: TestProject) {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
  const embedded = await startEmbedded(dataDir, 'command')
  project.provide('databaseUrl', embedded.url)
  return async () => {
    await embedded.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
