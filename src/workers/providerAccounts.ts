import type { OpenProviderAccounts } from '../runtime/providerAccounts.ts'
import { type Loop, startLoop } from './loop.ts'

const restMs = 500

// Hears of accounts that were added, set, disabled or enabled by a command or on another node: within a second. It only
// reads, and what it asks has a deadline.
export const startAccountsWatch = (
  { refresh: look }: Pick<OpenProviderAccounts, 'refresh'>,
  onTrouble: (error: unknown) => void,
): Loop =>
  startLoop({
    restMs,
    async step() {
      await look()
      return 0
    },
    onTrouble,
  })
