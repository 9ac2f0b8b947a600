import type { Heartbeats } from '../runtime/heartbeats.ts'
import type { OpenProviderAccounts } from '../runtime/providerAccounts.ts'
import { alwaysSearching, type GatedWork } from '../runtime/dueWork.ts'
import { type Loop, startLoop } from './loop.ts'

const restMs = 500

// Refreshes the accounts that a command has added, changed, disabled or enabled: within a second. It only reads, and its
// queries have a deadline.
export const startAccountsWatch = (
  { refresh }: Pick<OpenProviderAccounts, 'refresh'>,
  onTrouble: (error: unknown) => void,
  work: GatedWork = alwaysSearching,
  heartbeats?: Heartbeats,
): Loop => {
  const loop = startLoop({
    restMs,
    step: work.gated('accounts', refresh),
    onTrouble,
    heartbeat: heartbeats?.of('accounts'),
  })
  return {
    ...loop,
    wake() {
      work.reopen('accounts')
      loop.wake()
    },
  }
}
