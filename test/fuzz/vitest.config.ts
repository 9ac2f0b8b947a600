import { defineConfig } from 'vitest/config'
import { markup } from '../../vitest.proof.config.ts'

// `npm run fuzz`: for long, and with a fuzzer from outside where there is one.
export default defineConfig({
  resolve: markup,
  test: {
    include: ['test/fuzz/*.fuzz.ts'],
    globalSetup: ['test/support/database/database.setup.ts'],
    setupFiles: ['test/support/vitest/afterFile.setup.ts'],
    provide: { isProof: true },
    hookTimeout: 60_000,
    fileParallelism: false,
    reporters: ['verbose'],
  },
})
