import { createPollers } from '../actions/providers/pollDue.ts'
import { callbacksOn } from '../actions/providers/callbacks.ts'
import type { PaymentDeps } from '../actions/payments/deps.ts'
import type { Pause } from '../core/databaseClock.ts'
import { type Loop, startLoop } from './loop.ts'

const restMs = 500

// Asks about attempts that are due. Every node does: attempts are leased. A stop waits for what is under way, which has
// its deadlines.
export function startPolling(deps: PaymentDeps, onTrouble: (error: unknown) => void, pause?: Pause): Loop {
  const pollers = createPollers(deps, { onTrouble, wake: () => loop.wake() })
  const { pollers: askers } = callbacksOn(deps.db)
  const asker = { ...pollers.callbacks, room: () => (pause?.() ? 0 : pollers.callbacks.room()) }
  askers.add(asker)
  const loop = startLoop({ restMs, step: pollers.step, onTrouble, pause })
  return {
    wake: loop.wake,
    async stop() {
      askers.delete(asker)
      await loop.stop()
      await pollers.finished()
    },
  }
}
