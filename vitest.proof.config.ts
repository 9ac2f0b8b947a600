import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { filesReporter } from './test/support/proof/files.reporter.ts'
import { testSeed } from './test/support/random.ts'
import { failures } from './test/support/vitest/failures.reporter.ts'

// The JSX runtime and the SDK are taken from their sources, not from the last build.
const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url))
export const markup = {
  alias: [
    { find: /^#markup\//, replacement: pathOf('./src/core/markup/') },
    { find: /^#sdk$/, replacement: pathOf('./sdk/node/src/index.ts') },
  ],
}

// Long tests: killed processes and servers, floods, and the browser.
export const proofs = [
  'test/proof/**/*.test.ts',
  'test/browser/**/*.test.ts',
  'test/postgres/embedded.test.ts',
  'test/postgres/password.test.ts',
  'test/sandbox/browser.test.ts',
  'test/workers/messages/many.test.ts', // ten thousand changes of status
  'test/workers/deliveries/backlog.test.ts', // twenty thousand notifications
  'test/payments/cardTesting.test.ts', // thousands of declines
  'test/sdk/commands/exam.test.ts', // eighteen whole exams
  'test/sdk/commands/examples.test.ts', // the demo shop sits the exam, twice
  'test/sdk/commands/page.test.ts', // a process for each command of the page
  'test/sdk/commands/tarball.test.ts', // npx and npm install
  'test/sdk/commands/listen.test.ts', // a thousand events, and a killed process
  'test/sdk/commands/testTools.test.ts', // every outcome, and thousands of payments
  'test/sdk/nodePackage.test.ts', // packs, installs and compiles
  'test/docs/reference.test.ts', // a process for each sample of the reference, in four languages
  'test/cli/start/start.test.ts', // whole gateways, each with its private PostgreSQL
  'test/cli/start/wrongStart.test.ts', // the same, started wrongly
  'test/docs/quickstart.test.ts', // an exam, and a process for each command of the page
  'test/docs/goingLive.test.ts', // a process for each command of the page
  'test/docs/startedGateway.test.ts', // npm start, with its private PostgreSQL
  'test/clients/clients.test.ts', // two generators and two compilers
  'test/cli/endings.test.ts', // a process for each way that a command can end
  'test/providers/mtn/node.test.ts', // a gateway beside a simulated MTN
  'test/workers/idle.test.ts', // measures a gateway without work
  'test/workers/node.test.ts', // waits for leases of nodes
  'test/workers/deliveries/statuses.test.ts', // every status, with its retries
  'test/messengers/smtp/connection.test.ts', // waits for the timeouts of connections
  'test/messengers/smpp.test.ts', // the same
  'test/messengers/smpp/session.test.ts', // the same
  'test/net/slow.test.ts', // the same
  'test/store/migrate.test.ts', // many databases
  'test/sdk/python.test.ts', // a process for each sample
  'test/docs/samples.test.ts', // the same
  'test/web/api/testClock.test.ts', // thousands of payments
  'test/cli/doctor/doctor.test.ts', // a process for each check
  'test/cli/merchant/keys.test.ts', // a process for each command
  'test/cli/inProcess.test.ts', // the same
  'test/cli/usage.test.ts', // the same
  'test/sdk/commands/examOnly.test.ts', // whole exams
  'test/workers/deliveries/manyWorkers.test.ts', // several workers and their leases
  'test/net/http1/responseFuzz.test.ts', // thousands of responses
  'test/web/unreadableSettings.test.ts', // every endpoint, for every setting
  'test/web/dashboard/roles.test.ts', // every page and action as every role
  'test/web/dashboard/forms.test.ts', // every form, forged in every way
  'test/sdk/php.test.ts', // a process for each sample
  'test/deploy/nginx.test.ts', // waits until a failed node is asked again
  'test/main.test.ts', // checks what its process still does after a stop, so it needs its own process
]

// Random walks: `npm test` runs a few steps, the proof runs many.
const walks = [
  'test/payments/walk/walk.test.ts',
  'test/payments/walk/providers.test.ts',
  'test/payments/walk/database.test.ts',
  'test/payments/walk/refundWalk.test.ts',
  'test/payments/poison.test.ts',
  'test/workers/deliveries/siblingsWalk.test.ts',
  'test/workers/messages/tries.test.ts',
]

// `npm run proof`: on a database that waits for its disk.
export default defineConfig({
  resolve: markup,
  test: {
    name: 'proof',
    include: [...proofs, ...walks],
    globalSetup: ['test/support/database/database.setup.ts', 'test/support/browser/browser.setup.ts'],
    setupFiles: ['test/support/vitest/afterFile.setup.ts'],
    reporters: ['default', failures, filesReporter()],
    env: { TEST_SEED: String(testSeed) },
    provide: { isProof: true },
    testTimeout: 300_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    maxWorkers: 2,
  },
})
