import { createHealthExchange, probeAccounts, raiseRefusals } from '../actions/providers/health.ts'
import type { HealthMonitors } from '../runtime/providers/healthMonitor.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { startLoop } from './loop.ts'

const restMs = 5000

// Exchanges the health of provider accounts with the other nodes, raises tasks for refused credentials, and probes accounts
// whose breaker is open. Probes run beside the loop, so that a slow provider delays neither other probes nor the exchange.
export function startProviderHealth(
  { db, clock, providerAccounts, watch }: Pick<Runtime, 'db' | 'clock' | 'providerAccounts' | 'watch'>,
  monitors: HealthMonitors,
  onTrouble: (error: unknown) => void,
) {
  const healthDb = db.withQuota('health')
  const exchange = createHealthExchange(healthDb, monitors)
  const probes = new Set<Promise<void>>()
  const loop = startLoop({
    restMs,
    async step() {
      const probing = probeAccounts(providerAccounts, monitors)
      probes.add(probing)
      void probing.finally(() => probes.delete(probing))
      await exchange()
      await raiseRefusals({ db: healthDb, clock, watch, monitors })
      return 0
    },
    onTrouble,
  })
  return {
    async stop() {
      await loop.stop()
      await Promise.all(probes)
    },
  }
}
