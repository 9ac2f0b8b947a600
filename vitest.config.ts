import { defineConfig } from 'vitest/config'
import { failures } from './test/support/failures.reporter.ts'
import { markup, proofs } from './vitest.proof.config.ts'

// `npm test`: all that is fast. Files share a process, so each leaves it as it was.
export default defineConfig({
  resolve: markup,
  test: {
    include: ['test/**/*.test.ts'],
    exclude: proofs,
    globalSetup: ['test/support/database.setup.ts', 'test/support/browser.setup.ts'],
    setupFiles: ['test/support/afterFile.setup.ts'],
    reporters: ['default', failures],
    provide: { isProof: false },
    testTimeout: 30_000, // those that start programs, walk or wait for long have their own
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    // On two cores: some only wait, for a time that is over or for the other end. Where nobody waits for us, one less.
    maxWorkers: process.env.CI ? 2 : 4,
    isolate: false,
  },
})
