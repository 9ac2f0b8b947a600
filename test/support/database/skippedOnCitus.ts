// Tests of test/store, test/payments and test/web/api that a sharded PostgreSQL (Citus) cannot run, with the reason. All
// others run there. A file is named by the end of its path, and a test by a part of its name.
type Skipped = { file: string; tests: readonly string[]; because: string }

const noTriggers = 'the test makes the database fail by a trigger, which Citus refuses on a distributed table'
const ownPlans = 'the test reads plans or planner settings, and there the workers plan'
const ownCounts = 'the test counts what one server reads or how often it is asked'
const otherProtection =
  'missing privileges protect the rows there, not triggers: test/store/distribute.test.ts'
const otherSchema = 'the test changes or compares the schema of one server'

const skipped: readonly Skipped[] = [
  {
    file: 'payments/expiryIsolation.test.ts',
    tests: ['the database refuses one, and does not say which'],
    because: noTriggers,
  },
  { file: 'payments/groupCommit.test.ts', tests: ['one that cannot be written'], because: noTriggers },
  { file: 'payments/poison.test.ts', tests: ['a database that refuses the change'], because: noTriggers },
  {
    file: 'payments/groupCommit.test.ts',
    tests: ['payments of several merchants are locked by one statement'],
    because: 'Citus locks rows of one merchant in a statement',
  },
  {
    file: 'payments/ledger.test.ts',
    tests: ['a changed amount', 'a deleted row', 'an emptied table', 'a changed seal', 'a deleted seal'],
    because: otherProtection,
  },
  {
    file: 'store/ledger/roles.test.ts',
    tests: ['the runtime role may not drop trigger'],
    because: otherProtection,
  },
  { file: 'payments/expiryScans.test.ts', tests: ['2,000 overdue payments'], because: ownCounts },
  { file: 'payments/statements.test.ts', tests: ['one payment alone'], because: ownCounts },
  { file: 'store/payments/attemptsInPage.test.ts', tests: ['takes of attempts'], because: ownCounts },
  { file: 'store/ofMerchants.test.ts', tests: ['payments of many merchants'], because: ownPlans },
  { file: 'store/payments/paymentSearch.test.ts', tests: ['the search by '], because: ownPlans },
  {
    file: 'store/plans.test.ts',
    tests: ['each kind of statement', 'in a transaction too', 'a named statement'],
    because: ownPlans,
  },
  { file: 'store/pipelined.test.ts', tests: ['planner settings that fail'], because: ownPlans },
  { file: 'store/pooler.test.ts', tests: ['the timeouts and the planner settings'], because: ownPlans },
  {
    file: 'store/expectedSchema.test.ts',
    tests: ['the schema that doctor expects'],
    because: otherSchema,
  },
  { file: 'store/schema.test.ts', tests: ['a schema differs by'], because: otherSchema },
]

// Undefined for a test that runs.
export const whySkippedOnCitus = (file: string, name: string) =>
  skipped.find(one => file.endsWith(`/test/${one.file}`) && one.tests.some(part => name.includes(part)))
    ?.because
