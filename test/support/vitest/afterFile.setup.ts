import fc from 'fast-check'
import { vi } from 'vitest'

// Runs before each test file. Files share a process and the modules of node_modules, but each file loads the modules of
// this repository anew, so that none depends on what another file left in them.
vi.resetModules()
const { testSeed } = await import('../random.ts')
fc.configureGlobal({ seed: testSeed })
const { tidyUpAfterFile } = await import('./afterFile.ts')
tidyUpAfterFile()
