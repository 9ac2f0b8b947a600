import { whyNotStore } from '../core/fitDatabase.ts'
import { Unavailable } from '../core/interface/refusal.ts'
import type { StatusUpdate } from '../core/payment/change.ts'
import type { NewPayment, PaymentState } from '../core/payment/payment.ts'
import type { Db } from '../store/db.ts'
import type { MasterKeys } from '../store/merchants/vault.ts'
import { migrationNames } from '../store/migrate/migrationList.ts'
import { type CheckoutKey, findCheckouts, type StoredCheckout } from '../store/payments/paymentLife.ts'
import {
  findPayments,
  type InvoiceKey,
  type StoredRequest,
  storePayments,
} from '../store/payments/payments.ts'
import { readDatabaseState } from '../store/serverFacts.ts'
import { type BodyQuota, createBodyQuota } from './bodyQuota.ts'
import { type Batcher, createBatcher } from './batcher.ts'
import { type CallerCache, createCallerCache } from './callerCache.ts'
import type { ProviderAccounts } from './providerAccounts.ts'
import { databaseDeadline, sharedDeadline } from './deadline.ts'
import { createRateLimits, type RateLimits } from './rateLimits.ts'
import type { WakeUps } from './wakeUps.ts'

const batchesInFlight = 2 // one fills while another commits, and a slow one does not hold up everybody
const maxQueued = 5000 // callers that wait for one kind of statement; more are told to come back

// Everything that the verbs of the interface need, made once.
export type Runtime = {
  db: Db
  migrations: readonly string[] // the names of those of this release
  callers: CallerCache
  limits: RateLimits
  bodies: BodyQuota
  payments: Batcher<NewPayment, StoredRequest>
  lookups: Batcher<InvoiceKey, PaymentState | undefined>
  checkouts: Batcher<CheckoutKey, StoredCheckout | undefined>
  providerAccounts: ProviderAccounts
  formKey: Buffer // 32 bytes: signs the form tokens of pages; all nodes share it
  baseUrl(): string
  clock(): Date
  watch(news: StatusUpdate): void // sees what followed from a provider's word, after its commit
  wake: WakeUps['wake']
}

export type RuntimeOptions = Pick<
  Runtime,
  'db' | 'providerAccounts' | 'formKey' | 'baseUrl' | 'clock' | 'watch' | 'wake'
> & {
  masterKeys: MasterKeys
  migrations?: readonly string[] // those in the folder of this release, unless given
  batchRows: number
  poolSize: number
  observeBatch(kind: 'initiation' | 'status' | 'checkout', rows: number): void
}

const monotonicMs = () => performance.now()

export function createRuntime(options: RuntimeOptions): Runtime {
  const { db, migrations = migrationNames(), masterKeys, batchRows, poolSize, observeBatch } = options
  const { providerAccounts, formKey, baseUrl, clock, watch, wake } = options
  const shared = {
    maxRows: batchRows,
    maxInFlight: batchRows === 1 ? Math.floor(poolSize / 2) : Math.min(batchesInFlight, poolSize - 1),
    maxQueued,
    isHanging: db.isHanging,
  }
  const inTime = () => db.withDeadline(sharedDeadline())
  return {
    db,
    migrations,
    callers: createCallerCache(db, masterKeys, clock, monotonicMs),
    limits: createRateLimits(monotonicMs),
    bodies: createBodyQuota(monotonicMs),
    payments: createBatcher({
      ...shared,
      run: payments => storePayments(inTime(), payments),
      observe: rows => observeBatch('initiation', rows),
    }),
    lookups: createBatcher({
      ...shared,
      run: keys => findPayments(inTime(), keys),
      observe: rows => observeBatch('status', rows),
    }),
    checkouts: createBatcher({
      ...shared,
      run: keys => findCheckouts(inTime().withQuota('checkout'), keys),
      observe: rows => observeBatch('checkout', rows),
    }),
    providerAccounts,
    formKey,
    baseUrl,
    clock,
    watch,
    wake,
  }
}

const looks = new WeakMap<Runtime['db'], Promise<string | undefined>>()

// Undefined when this node can serve; otherwise the sentence that says what is missing. Anybody may ask, so however many
// do at once, one look at the database answers them all.
export function whyNotReady({
  db,
  migrations,
}: Pick<Runtime, 'db' | 'migrations'>): Promise<string | undefined> {
  const look = looks.get(db) ?? lookWhyNot(db, migrations).finally(() => looks.delete(db))
  looks.set(db, look)
  return look
}

async function lookWhyNot(db: Db, migrations: readonly string[]): Promise<string | undefined> {
  try {
    return whyNotStore(await readDatabaseState(db.withDeadline(databaseDeadline())), migrations)
  } catch (error) {
    if (db.isHanging()) return 'the database does not answer'
    return isStandby(error) ? 'the database is a standby' : 'the database cannot be reached'
  }
}

const isStandby = (error: unknown) =>
  error instanceof Unavailable && (error.cause as { code?: string } | undefined)?.code === '25006'
