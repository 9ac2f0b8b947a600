import { randomBytes } from 'node:crypto'
import { createDecisions } from '../actions/payments/decisions.ts'
import type { ProviderAccounts } from '../runtime/providerAccounts.ts'
import { createRuntime } from '../runtime/runtime.ts'
import { baseUrlOf } from './baseUrl.ts'
import type { CommandContext } from './database.ts'

// One request and no workers: the wake-ups go nowhere, and the gateway finds the work by polling.
export const commandRuntime = (context: CommandContext, providerAccounts: ProviderAccounts) =>
  createRuntime({
    db: context.db,
    decisions: createDecisions(context.db, {}),
    localWorkers: {},
    masterKeys: context.masterKeys,
    clock: context.clock,
    timeZone: context.config.TOLLGATE_TIME_ZONE,
    providerAccounts,
    formKey: randomBytes(32), // no page is shown
    baseUrl: () => baseUrlOf(context.config),
    batchRows: 1,
    poolSize: 2,
    observeBatch: () => {},
    watch: () => {},
    wake: () => {},
  })
