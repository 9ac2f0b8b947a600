import type { AddressRules } from '../core/addressRules.ts'
import { whyNotStore } from '../core/fitDatabase.ts'
import type { InstallationState } from '../core/installation/installationState.ts'
import { notOriginalText } from '../core/installation/installationTexts.ts'
import { Unavailable } from '../core/interface/refusal.ts'
import type { Mode } from '../core/mode.ts'
import type { StatusUpdate } from '../core/payment/change.ts'
import type { NewPayment, PaymentState } from '../core/payment/payment.ts'
import { findNeededKey } from '../store/installation/keyUse.ts'
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
import { databaseDeadline, sharedDeadline, requestMs } from './deadline.ts'
import type { LocalWorkers } from './localWorkers.ts'
import type { PaymentDecisions } from './paymentDecisions.ts'
import { createPaymentTraces, type PaymentTraces } from './paymentTraces.ts'
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
  installation(): InstallationState // whether the database is a copy: actions/installation/requireOriginal.ts
  watch(update: StatusUpdate): void // called after the commit of a change
  wake: WakeUps['wake']
  traces: PaymentTraces
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
  whyNoDatabase(): Promise<string | undefined> // undefined if payments can be stored
  whyNotReady(): Promise<string | undefined> // undefined if this node can serve
}

export type RuntimeOptions = Omit<PaymentDeps, 'callbacks' | 'installation' | 'traces'> & {
  installation?(): InstallationState // by default the original
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

const original: InstallationState = { is: 'original' }
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
    maxWaitMs: requestMs, // callers use inTime()
    isHanging: db.isHanging,
  }
  const inTime = () => db.withDeadline(sharedDeadline())
  const whyNoDatabase = createReadiness(db, migrations)
  const whyNoKey = createKeyCheck(db, masterKeys)
  return {
    addressRules: () => strictRules,
    dashboardUrl: deps.baseUrl,
    installation: () => original,
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
    traces: createPaymentTraces(db),
    whyNoDatabase,
    // A balancer must not send live payments to a copy, which refuses them, nor any to a node without the master key.
    whyNotReady: async () =>
      notOriginalText(options.installation?.() ?? original) ?? (await whyNoDatabase()) ?? whyNoKey(),
  }
}

// Any client may ask whether this node is ready, so all that ask at the same time share one check of the database.
function createReadiness(db: Db, migrations: readonly string[]): Runtime['whyNoDatabase'] {
  let checking: Promise<string | undefined> | undefined
  return () => (checking ??= checkDatabase(db, migrations).finally(() => void (checking = undefined)))
}

const keysCheckedForMs = 5000

// Whether this node lacks a master key in use, asked at most every five seconds while it has all of them.
function createKeyCheck(db: Db, masterKeys: MasterKeys) {
  let askAt = 0
  return async () => {
    if (performance.now() < askAt) return undefined
    const needed = await findNeededKey(db.withDeadline(databaseDeadline()), masterKeys)
    if (needed) return `the master key ${needed} is in use, and this node does not have it`
    askAt = performance.now() + keysCheckedForMs
    return undefined
  }
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
