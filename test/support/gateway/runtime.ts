import { createDecisions } from '../../../src/actions/payments/decisions.ts'
import { createCallbackBatcher } from '../../../src/runtime/callbackBatcher.ts'
import type { LocalWorkers } from '../../../src/runtime/localWorkers.ts'
import { createPaymentTraces } from '../../../src/runtime/paymentTraces.ts'
import { providerAccountsOf } from '../../../src/runtime/providerAccounts.ts'
import { createRuntime, type Runtime, type RuntimeOptions } from '../../../src/runtime/runtime.ts'
import type { Db } from '../../../src/store/db.ts'

// The runtime that actions need, without a server, and with defaults for what a test does not set.
export function testRuntime(
  options: Pick<RuntimeOptions, 'db' | 'masterKeys'> & Partial<RuntimeOptions>,
): Runtime {
  const localWorkers = options.localWorkers ?? {}
  return createRuntime({
    batchRows: 256,
    poolSize: 10,
    decisions: createDecisions(options.db, localWorkers),
    localWorkers,
    providerAccounts: providerAccountsOf([]),
    formKey: Buffer.alloc(32, 7),
    baseUrl: () => 'http://pay.example',
    clock: () => new Date(),
    timeZone: 'UTC',
    watch: () => {},
    wake: () => {},
    observeBatch: () => {},
    ...options,
  })
}

// What one process shares of its changes of payments.
export const changesOn = (db: Db, localWorkers: LocalWorkers = {}) => ({
  db,
  localWorkers,
  decisions: createDecisions(db, localWorkers),
  callbacks: createCallbackBatcher(db, localWorkers),
  traces: createPaymentTraces(db),
  installation: () => ({ is: 'original' }) as const,
})
