import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { blocksOf, documents } from './blocks.ts'

// The test that runs each block of the documentation. A new block without an entry fails here. `shown` is output or
// notation, and `notRun` says why a machine of tests cannot run a block.
const shown = { shown: true }
const notRun = (reason: string) => ({ reason })

type Claim = string | typeof shown | ReturnType<typeof notRun>

const samples = 'test/docs/samples.test.ts'
const started = 'test/docs/startedGateway.test.ts'
const snippets = 'test/docs/snippets.test.ts'
const commands = 'test/sdk/commands/page.test.ts'
const tarball = 'test/sdk/commands/tarball.test.ts'
const quickstart = 'test/docs/quickstart.test.ts'
const messengers = 'test/messengers/registry.test.ts'
const nodePackage = 'test/sdk/nodePackage.test.ts'

// For each heading one claim per block, or one claim for a whole document if its test reads all of its blocks.
const claims: Record<string, Claim | Record<string, Claim[]>> = {
  'README.md': { 'Start it': [started], 'Test it': [notRun('npm test would run itself')] },
  'CONTRIBUTING.md': {
    Contributing: [
      notRun('it clones a repository; README.md has the same commands'),
      notRun('it compiles another program'),
    ],
    Style: [samples, samples, samples, samples],
  },
  'docs/developer-commands.md': {
    'Commands for developers of a shop': [commands, tarball, commands],
    listen: [commands, shown],
    trigger: [commands],
    refund: [commands],
    clock: [commands],
    sign: [commands],
    requests: [commands],
    exam: [commands],
    'What your shop needs for it': [commands],
  },
  'docs/doctor.md': { 'What doctor finds': [shown], 'For scripts': [shown] },
  'docs/errors.md': 'test/docs/errors.test.ts',
  'docs/figures.md': 'test/proof/bench.test.ts',
  'docs/going-live.md': 'test/docs/goingLive.test.ts',
  'docs/interface.md': {
    'Sign and send': [shown, snippets],
    'curl and openssl': [snippets],
    Node: [snippets],
    PHP: [snippets],
    Python: [snippets],
    'Request a payment': [samples, snippets],
    'Line items': [samples],
    Errors: [snippets],
    'Find your mistake': [snippets],
    Warnings: [snippets],
    'Check the status': [samples],
    'Frame or relay the page': [samples],
    'The request': [snippets],
    'Check the signature': [snippets, snippets, snippets],
    'Test notifications': ['test/web/dashboard/testNotification.test.ts'],
    'Event feed': [shown, snippets, snippets, snippets],
    'Refused requests': [snippets],
    'Test tools': [snippets],
    'Trigger an outcome': [snippets],
    'Advance the clock': [snippets],
  },
  'docs/ledger.md': 'test/cli/ledger/ledger.test.ts',
  'docs/messengers.md': {
    'The inbox': [started],
    Email: [messengers],
    'SMS by SMPP': [messengers],
    'SMS by HTTP': [messengers, messengers],
    'A new messenger': [samples],
  },
  'docs/providers.md': samples,
  'docs/quickstart.md': {
    '1. Start a gateway': [started],
    '4. Write your own': [quickstart, quickstart],
    '5. Have it graded': [quickstart],
    '6. Sell something': [quickstart, quickstart],
  },
  'docs/refunds.md': 'test/docs/refunds.test.ts',
  'docs/operations.md': 'test/operations/run.js',
  'docs/deployment.md': {
    'Install the program': [notRun('it installs into another folder of the machine')],
    'Secrets for the compose file': [notRun('it belongs to a compose file that no test runs')],
  },
  'docs/copies.md': { 'Adopt it': [notRun('test/cli/adopt.test.ts runs it with --yes')] },
  'docs/backup.md': {
    'Make one': [notRun('its folders are those of a server; test/cli/backup runs the command')],
    'Point-in-time recovery with your own PostgreSQL': [
      shown,
      notRun('it needs a server with an archive'),
      shown,
    ],
  },
  'docs/running.md': {
    'Its own PostgreSQL': [started],
  },
  'docs/sandbox.md': 'test/docs/sandboxCommands.test.ts',
  'docs/sdk.md': started,
  'docs/watching.md': {
    Prometheus: [notRun('Prometheus is not a package of this repository')],
    Providers: [shown],
    Traces: [notRun('it installs an SDK; test/observe/traces.test.ts runs nodes with its file'), shown],
  },
  'docs/providers/mtn.md': {
    'What to apply for': [notRun("it calls MTN's developer portal")],
    Settings: [samples],
  },
  'docs/providers/paystack.md': { Settings: [samples] },
  'sdk/node/README.md': {
    '@tollgate/merchant': [started],
    'Quick start': [nodePackage],
    handleNotification: [nodePackage],
    'notificationListener, for node:http and Express': [nodePackage],
    events: [nodePackage],
    Stores: ['test/sdk/nodeStores.test.ts', 'test/sdk/nodeStores.test.ts'],
    'Tests of your shop': [nodePackage],
  },
  'sdk/php/README.md': 'test/sdk/php.test.ts',
  'sdk/python/README.md': 'test/sdk/python.test.ts',
  'examples/shop/README.md': started,
}

test('every block of the documentation is run by a test, or the table says why not', () => {
  const expected: Record<string, unknown> = {}
  const found: Record<string, unknown> = {}
  for (const file of documents) {
    const blocks = blocksOf(file)
    const claim = claims[file]
    if (blocks.length === 0 && !claim) continue
    const isWhole = typeof claim !== 'object' || 'reason' in claim || 'shown' in claim
    const counts: Record<string, number> = {}
    for (const { heading } of blocks) counts[heading] = (counts[heading] ?? 0) + 1
    found[file] = claim && isWhole ? blocks.length > 0 : counts
    expected[file] =
      claim && isWhole
        ? true
        : Object.fromEntries(Object.entries(claim ?? {}).map(([heading, { length }]) => [heading, length]))
  }
  expect(found).toEqual(expected)
  expect(Object.keys(claims).filter(file => !documents.includes(file))).toEqual([])
})

test('every test that the table names exists', () => {
  const named = Object.values(claims).flatMap(claim =>
    typeof claim === 'object' && !('reason' in claim) && !('shown' in claim)
      ? Object.values(claim).flat()
      : [claim],
  )
  const files = named.filter(claim => typeof claim === 'string')
  expect(files.filter(file => !existsSync(file))).toEqual([])
})
