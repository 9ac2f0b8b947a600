import { defineConfig } from 'vitest/config'

// Whatever takes long because it has to: real processes that are killed, floods, long walks, and the browser.
export const proofs = ['test/proof/**/*.test.ts', 'test/browser/**/*.test.ts']

// `npm run proof`, on a database that waits for its disk.
export default defineConfig({
  test: {
    name: 'proof',
    include: proofs,
    globalSetup: ['test/support/database.setup.ts', 'test/support/browser.setup.ts'],
    setupFiles: ['test/support/afterFile.setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
})
