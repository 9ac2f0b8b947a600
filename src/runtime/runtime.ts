import type { AddressRules } from '../core/addressRules.ts'
import { whyNotStore } from '../core/fitDatabase.ts'
import { Unavailable } from '../core/interface/refusal.ts'
import type { Mode } from '../core/mode.ts'
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
import { type CallbackBatcher, createCallbackBatcher } from './callbackBatcher.ts'
import { type CallerCache, createCallerCache } from './callerCache.ts'
import type { ProviderAccounts } from './providerAccounts.ts'
import { databaseDeadline, sharedDeadline } from './deadline.ts'
import type { LocalWorkers } from './localWorkers.ts'
import type { PaymentDecisions } from './paymentDecisions.ts'
import { createRateLimits, type RateLimits } from './rateLimits.ts'
import type { WakeUps } from './wakeUps.ts'

const batchesInFlight = 2 // one fills while another commits, and a slow one does not stop all callers
const maxQueued = 5000 // callers that wait for one kind of statement; more are refused

// What the actions that change payments need.
export type PaymentDeps = {
  db: Db
  decisions: PaymentDecisions
  callbacks: CallbackBatcher
  localWorkers: LocalWorkers
  providerAccounts: ProviderAccounts
  baseUrl(): string // of checkouts, the API and callbacks
  clock(): Date
  timeZone: string // of the installation's days
  watch(update: StatusUpdate): void // called after the commit of a change
  wake: WakeUps['wake']
}

// The long-lived objects that actions use, each made once.
export type Runtime = PaymentDeps & {
  dashboardUrl(): string // the base URL, unless the dashboard has an address of its own
  callers: CallerCache
  limits: RateLimits
  bodies: BodyQuota
  payments: Batcher<NewPayment, StoredRequest>
  lookups: Batcher<InvoiceKey, PaymentState | undefined>
  checkouts: Batcher<CheckoutKey, StoredCheckout | undefined>
  formKey: Buffer // 32 bytes: signs the form tokens of pages; all nodes share it
  addressRules(mode: Mode): AddressRules // of notifications
  whyNotReady(): Promise<string | undefined> // undefined if this node can serve
}

export type RuntimeOptions = Omit<PaymentDeps, 'callbacks'> & {
  formKey: Buffer
  masterKeys: MasterKeys
  migrations?: readonly string[] // by default those of this release
  addressRules?: Runtime['addressRules'] // by default the strictest
  dashboardUrl?(): string // by default the base URL
  batchRows: number
  poolSize: number
  observeBatch(kind: 'initiation' | 'status' | 'checkout', rows: number): void
  observeStored?(payments: readonly NewPayment[], stored: readonly StoredRequest[]): void
}

const strictRules: AddressRules = { allowLoopback: false, ports: [] }

const monotonicMs = () => performance.now()

export function createRuntime(options: RuntimeOptions): Runtime {
  const { migrations = migrationNames(), masterKeys, batchRows, poolSize, observeBatch, ...others } = options
  const { observeStored, ...deps } = others
  const { db, localWorkers, clock } = deps
  const shared = {
    maxRows: batchRows,
    maxInFlight: batchRows === 1 ? Math.floor(poolSize / 2) : Math.min(batchesInFlight, poolSize - 1),
    maxQueued,
    isHanging: db.isHanging,
  }
  const inTime = () => db.withDeadline(sharedDeadline())
  return {
    addressRules: () => strictRules,
    dashboardUrl: deps.baseUrl,
    ...deps,
    callers: createCallerCache(db, masterKeys, clock, monotonicMs),
    limits: createRateLimits(monotonicMs),
    bodies: createBodyQuota(monotonicMs),
    payments: createBatcher({
      ...shared,
      async run(payments) {
        const stored = await storePayments(inTime(), payments)
        observeStored?.(payments, stored)
        return stored
      },
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
    callbacks: createCallbackBatcher(db, localWorkers),
    whyNotReady: createReadiness(db, migrations),
  }
}

// Any client may ask whether this node is ready, so all that ask at the same time share one check of the database.
function createReadiness(db: Db, migrations: readonly string[]): Runtime['whyNotReady'] {
  let checking: Promise<string | undefined> | undefined
  return () => (checking ??= checkDatabase(db, migrations).finally(() => void (checking = undefined)))
}

async function checkDatabase(db: Db, migrations: readonly string[]): Promise<string | undefined> {
  try {
    return whyNotStore(await readDatabaseState(db.withDeadline(databaseDeadline())), migrations)
  } catch (error) {
    if (db.isHanging()) return 'the database does not answer'
    return isStandby(error) ? 'the database is a standby' : 'the database cannot be reached'
  }
}

const isStandby = (error: unknown) =>
  error instanceof Unavailable && (error.cause as { code?: string } | undefined)?.code === '25006'
