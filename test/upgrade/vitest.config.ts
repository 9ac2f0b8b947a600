import { defineConfig } from 'vitest/config'
import { markup } from '../../vitest.proof.config.ts'

// `npm run fixture`: makes the database of this release that later releases are tested to upgrade.
export default defineConfig({
  resolve: markup,
  test: {
    include: ['test/upgrade/makeFixture.ts'],
    globalSetup: ['test/support/database/database.setup.ts'],
    setupFiles: ['test/support/vitest/afterFile.setup.ts'],
    provide: { isProof: false },
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
})
