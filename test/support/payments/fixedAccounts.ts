import type { ProviderAccount } from '../../../src/core/provider/provider.ts'
import type { Timer } from '../../../src/runtime/deadline.ts'
import { type ProviderAccounts, providerAccountsOf } from '../../../src/runtime/providerAccounts.ts'
import { accountOf } from '../../../src/runtime/providers/accounts.ts'
import { guardAccount } from '../../../src/runtime/providers/guard.ts'
import type { HealthMonitors } from '../../../src/runtime/providers/healthMonitor.ts'

// Accounts by name, as if their settings were in the environment. Identities are not stored.
export const fixedAccounts = (
  accounts: ReadonlyMap<string, ProviderAccount>,
  timer?: Timer,
  monitors?: HealthMonitors,
): ProviderAccounts =>
  providerAccountsOf(
    [...accounts].map(([name, account]) =>
      accountOf(name, account, guardAccount(account, timer, monitors?.account(name))),
    ),
    [],
    monitors,
  )
