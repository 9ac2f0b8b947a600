import { createProber } from '../actions/channels/probe.ts'
import { raiseRefusals } from '../actions/channels/raiseRefusals.ts'
import { createHealthSharing } from '../actions/channels/shareHealth.ts'
import type { Keepers } from '../runtime/channels/keeper.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { type Loop, startLoop } from './loop.ts'

const restMs = 5000

// Shares with the other nodes how accounts do, and goes to see those that were left alone. An account that does not answer
// holds up neither the others nor the sharing.
export function startChannelHealth(
  { db, clock, channels, watch }: Pick<Runtime, 'db' | 'clock' | 'channels' | 'watch'>,
  keepers: Keepers,
  onTrouble: (error: unknown) => void,
): Loop {
  const { step } = createHealthSharing({ db: db.share('health'), clock, keepers })
  const probe = createProber({ channels, breakers: keepers.breakers })
  const probing = new Set<Promise<void>>()
  const loop = startLoop({
    restMs,
    async step() {
      const seen = probe()
      probing.add(seen)
      void seen.finally(() => probing.delete(seen))
      await step()
      await raiseRefusals({ db: db.share('health'), clock, watch, keepers })
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
