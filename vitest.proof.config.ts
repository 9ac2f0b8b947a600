import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { failures } from './test/support/failures.reporter.ts'
import { filesReporter } from './test/support/proof/files.reporter.ts'

// What JSX becomes, as it stands in src/ and not as it was last built.
const sources = fileURLToPath(new URL('./src/core/markup/', import.meta.url))
export const markup = { alias: [{ find: /^#markup\//, replacement: sources }] }

// What takes long because it has to: processes and servers that are killed, floods, and the browser.
export const proofs = [
  'test/proof/**/*.test.ts',
  'test/browser/**/*.test.ts',
  'test/postgres/embedded.test.ts',
  'test/postgres/password.test.ts',
  'test/sandbox/browser.test.ts',
  'test/workers/messages/many.test.ts', // ten thousand changes of status
  'test/workers/deliveries/crowd.test.ts', // twenty thousand notifications
  'test/payments/cardTesting.test.ts', // thousands of declines
  'test/docs/goingLive.test.ts', // a process for each command of the page
  'test/main.test.ts', // looks at whatever its process still does, so it has one of its own
]

// Walks: some steps with all that is fast, and here as many as show everything.
const walks = [
  'test/payments/walk/walk.test.ts',
  'test/payments/walk/rails.test.ts',
  'test/payments/walk/database.test.ts',
  'test/payments/poison.test.ts',
  'test/workers/deliveries/siblingsWalk.test.ts',
  'test/workers/messages/tries.test.ts',
]

// `npm run proof`, on a database that waits for its disk.
export default defineConfig({
  resolve: markup,
  test: {
    name: 'proof',
    include: [...proofs, ...walks],
    globalSetup: ['test/support/database.setup.ts', 'test/support/browser.setup.ts'],
    setupFiles: ['test/support/afterFile.setup.ts'],
    reporters: ['default', failures, filesReporter()],
    provide: { isProof: true },
    testTimeout: 300_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    maxWorkers: 2,
  },
})
