import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { type Chromium, findChromium } from './chromium.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    chromium: Chromium | string // a string says why there is none; only tests that need it fail
  }
}

// Finds the browser once for the whole run; each test file starts its own.
export default async function setup(project: TestProject) {
  const scratch = mkdtempSync(join(tmpdir(), 'tollgate-browser-'))
  project.provide('chromium', await findChromium(scratch))
  return () => rmSync(scratch, { recursive: true, force: true })
}
