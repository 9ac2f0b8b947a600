import type { OpenProviderAccounts } from '../runtime/providerAccounts.ts'
import { type Loop, startLoop } from './loop.ts'

const restMs = 500

// Refreshes the accounts that a command has added, changed, disabled or enabled: within a second. It only reads, and its
// queries have a deadline.
export const startAccountsWatch = (
  { refresh }: Pick<OpenProviderAccounts, 'refresh'>,
  onTrouble: (error: unknown) => void,
): Loop =>
  startLoop({
    restMs,
    async step() {
      await refresh()
      return 0
    },
    onTrouble,
  })
