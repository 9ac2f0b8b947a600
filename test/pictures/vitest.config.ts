import { defineConfig } from 'vitest/config'
import { markup } from '../../vitest.proof.config.ts'

// `npm run pictures`: the pictures of docs/dashboard.md.
export default defineConfig({
  resolve: markup,
  test: {
    include: ['test/pictures/dashboard.ts'],
    globalSetup: ['test/support/database/database.setup.ts', 'test/support/browser/browser.setup.ts'],
    setupFiles: ['test/support/vitest/afterFile.setup.ts'],
    provide: { isProof: false },
    testTimeout: 600_000,
    hookTimeout: 120_000,
  },
})
