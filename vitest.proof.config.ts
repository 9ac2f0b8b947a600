import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { filesReporter } from './test/support/proof/files.reporter.ts'
import { LongestFirst } from './test/support/proof/longestFirst.ts'
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

// Files with deadlines that a busy machine misses.
const timed = [
  'test/proof/**/*.test.ts',
  'test/providers/mtn/node.test.ts', // a gateway beside a simulated MTN
  'test/workers/idle.test.ts', // measures a gateway without work
  'test/deploy/nginx.test.ts', // waits until a failed node is asked again
  'test/deploy/caddy.test.ts', // the same
  'test/observe/traces.test.ts', // gateways with an SDK, killed and started again
]

// Files that need a process of their own, or run long enough for it to make no difference.
const isolated = [
  'test/postgres/embedded.test.ts',
  'test/postgres/password.test.ts',
  'test/postgres/otherUsers.test.ts', // starts servers, and a process for each try of another user
  'test/workers/messages/many.test.ts', // ten thousand changes of status
  'test/workers/deliveries/backlog.test.ts', // twenty thousand notifications
  'test/payments/cardTesting.test.ts', // thousands of declines
  'test/clients/clients.test.ts', // two generators and two compilers
  'test/workers/roles.test.ts', // starts nodes one after another
  'test/workers/node.test.ts', // waits for leases of nodes
  'test/workers/deliveries/statuses.test.ts', // every status, with its retries
  'test/messengers/smtp/connection.test.ts', // waits for the timeouts of connections
  'test/messengers/smpp.test.ts', // the same
  'test/messengers/smpp/session.test.ts', // the same
  'test/net/slow.test.ts', // the same
  'test/store/migrate.test.ts', // many databases
  'test/store/migrateOutside.test.ts', // the same, and killed processes
  'test/upgrade/upgrade.test.ts', // databases of every release
  'test/workers/installationWatch.test.ts', // waits for heartbeats of nodes
  'test/workers/deliveries/manyWorkers.test.ts', // several workers and their leases
  'test/net/http1/responseFuzz.test.ts', // thousands of responses
  'test/deploy/files.test.ts', // promtool evaluates hours of series for each alert
  'test/cluster/cluster.test.ts', // starts servers
  'test/main.test.ts', // checks what its process still does after a stop, so it needs its own process
]

// Files that share a process, as those of `npm test` do. Loading the modules again takes 2 s of CPU for each file.
const shared = [
  'test/browser/**/*.test.ts',
  'test/sandbox/browser.test.ts',
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
  'test/docs/refunds.test.ts', // compiles the SDK, and a process for each program of the page
  'test/docs/quickstart.test.ts', // an exam, and a process for each command of the page
  'test/docs/goingLive.test.ts', // a process for each command of the page
  'test/docs/startedGateway.test.ts', // npm start, with its private PostgreSQL
  'test/cli/endings.test.ts', // a process for each way that a command can end
  'test/sdk/python.test.ts', // a process for each sample
  'test/docs/samples.test.ts', // the same
  'test/web/api/testClock.test.ts', // thousands of payments
  'test/cli/doctor/doctor.test.ts', // a process for each check
  'test/cli/doctor/faults.test.ts', // a run of doctor for each planted fault
  'test/cli/merchant/keys.test.ts', // a process for each command
  'test/cli/masterKeyNodes.test.ts', // gateways that are started again with other keys
  'test/cli/adopt.test.ts', // the same
  'test/cli/backup/restore.test.ts', // many restores
  'test/cli/backup/move.test.ts', // many databases
  'test/cli/inProcess.test.ts', // a process for each command
  'test/cli/usage.test.ts', // the same
  'test/sdk/commands/examOnly.test.ts', // whole exams
  'test/web/unreadableSettings.test.ts', // every endpoint, for every setting
  'test/web/dashboard/roles.test.ts', // every page and action as every role
  'test/web/dashboard/forms.test.ts', // every form, forged in every way
  'test/web/dashboard/injection.test.ts', // every page, form and file, with markup, formulas and headers
  'test/web/dashboard/twice.test.ts', // every form that changes something, three times
  'test/web/dashboard/pages.test.ts', // every page as every role, with all that it loads
  'test/sdk/php.test.ts', // a process for each sample
]

// Long tests: killed processes and servers, floods, and the browser.
export const proofs = [...timed, ...isolated, ...shared]

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

const eachFile = {
  setupFiles: ['test/support/vitest/afterFile.setup.ts'],
  env: { TEST_SEED: String(testSeed) },
  testTimeout: 300_000,
  hookTimeout: process.env.CI ? 180_000 : 60_000, // a machine of CI can be starved for minutes
  expect: { poll: { timeout: process.env.CI ? 60_000 : 20_000 } },
}

// More workers than cores, because many files wait for a program, a browser or a timer.
const withoutDeadlines = { ...eachFile, maxWorkers: 3, sequence: { groupOrder: 1 } }

// `npm run proof`: on a database that waits for its disk.
export default defineConfig({
  test: {
    globalSetup: ['test/support/database/database.setup.ts', 'test/support/browser/browser.setup.ts'],
    reporters: ['default', failures, filesReporter()],
    provide: { isProof: true },
    sequence: { sequencer: LongestFirst },
    projects: [
      { resolve: markup, test: { ...eachFile, name: 'timed', include: timed, maxWorkers: 2 } },
      {
        resolve: markup,
        test: { ...withoutDeadlines, name: 'isolated', include: [...isolated, ...walks] },
      },
      {
        resolve: markup,
        test: { ...withoutDeadlines, name: 'shared', include: shared, isolate: false },
      },
    ],
  },
})
