import type { Config } from '../config.ts'
import type { SharedToken } from '../core/provider/provider.ts'
import type { AccountTools } from '../runtime/providers/openAccount.ts'
import { createSharedTokens } from '../runtime/providers/token.ts'
import type { Db } from '../store/db.ts'
import type { MasterKeys } from '../store/merchants/vault.ts'
import { providerEgress } from './egress.ts'

type ToolDeps = { db: Db; clock(): Date; masterKeys?: MasterKeys }

// What provider accounts get: the egress settings, the clock, and a token that all nodes and commands share.
export function accountTools(config: Config, { db, clock, masterKeys }: ToolDeps): AccountTools {
  const shared = masterKeys && createSharedTokens({ db, clock, masterKeys })
  return {
    egress: providerEgress(config),
    clock,
    tokenOf: (account, settings) => shared?.of(account, settings) ?? noToken,
  }
}

// For checks of settings: a cached token could hide that they no longer get one.
export const uncachedTools = (config: Config, deps: Pick<ToolDeps, 'db' | 'clock'>): AccountTools => ({
  ...accountTools(config, deps),
  tokenOf: () => async (make, signal) => (await make(signal)).token,
})

const noToken: SharedToken = () => Promise.reject(new Error('There is no master key to seal a token.'))
