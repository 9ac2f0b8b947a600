import { vi } from 'vitest'

// Runs before each test file. Files share a process and what comes from node_modules, but none finds our own modules as
// another left them.
vi.resetModules()
const { tidyUpAfterFile } = await import('./afterFile.ts')
tidyUpAfterFile()
