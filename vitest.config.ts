import { defineConfig } from 'vitest/config'
import { testSeed } from './test/support/random.ts'
import { failures } from './test/support/vitest/failures.reporter.ts'
import { markup, proofs } from './vitest.proof.config.ts'

// Tests that start programs or wait for long set their own. A machine of CI can be starved for minutes, and a limit that a
// passing test reaches there shows nothing.
const timeouts = process.env.CI
  ? { testTimeout: 180_000, hookTimeout: 180_000, expect: { poll: { timeout: 60_000 } } }
  : { testTimeout: 30_000, hookTimeout: 60_000, expect: { poll: { timeout: 20_000 } } }

// `npm test`: the fast tests. Files share a process, so each cleans up after itself.
export default defineConfig({
  resolve: markup,
  test: {
    include: ['test/**/*.test.ts'],
    exclude: proofs,
    globalSetup: ['test/support/database/database.setup.ts', 'test/support/browser/browser.setup.ts'],
    setupFiles: ['test/support/vitest/afterFile.setup.ts', 'test/support/vitest/citus.setup.ts'],
    reporters: ['default', failures],
    env: { TEST_SEED: String(testSeed) },
    provide: { isProof: false },
    ...timeouts,
    // More workers than cores, because many tests only wait for timers and sockets. In CI, time matters less than stability.
    maxWorkers: process.env.CI ? 3 : 4,
    isolate: false,
  },
})
