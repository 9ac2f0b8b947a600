import { createProber } from '../actions/providers/probe.ts'
import { raiseRefusals } from '../actions/providers/raiseRefusals.ts'
import { createHealthExchange } from '../actions/providers/healthExchange.ts'
import type { HealthMonitors } from '../runtime/providers/healthMonitor.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { type Loop, startLoop } from './loop.ts'

const restMs = 5000

// Shares with the other nodes how accounts do, and goes to see those that were left alone. An account that does not answer
// holds up neither the others nor the sharing.
export function startProviderHealth(
  { db, clock, providerAccounts, watch }: Pick<Runtime, 'db' | 'clock' | 'providerAccounts' | 'watch'>,
  monitors: HealthMonitors,
  onTrouble: (error: unknown) => void,
): Loop {
  const { step } = createHealthExchange({ db: db.withQuota('health'), clock, keepers: monitors })
  const probe = createProber({ providerAccounts, breakers: monitors.breakers })
  const probing = new Set<Promise<void>>()
  const loop = startLoop({
    restMs,
    async step() {
      const seen = probe()
      probing.add(seen)
      void seen.finally(() => probing.delete(seen))
      await step()
      await raiseRefusals({ db: db.withQuota('health'), clock, watch, keepers: monitors })
      return 0
    },
    onTrouble,
  })
  return {
    wake: loop.wake,
    async stop() {
      await loop.stop()
      await Promise.all(probing)
    },
  }
}
