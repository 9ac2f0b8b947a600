import type { Asking } from '../actions/ask.ts'
import { bringForward } from '../actions/bringForward.ts'
import { expireDue } from '../actions/expire.ts'
import type { Gate } from '../actions/gate.ts'
import type { Pause } from '../core/databaseClock.ts'
import { startAsking } from './asking.ts'
import { startLoop } from './loop.ts'

const expireRestMs = 1000
const bringRestMs = 60_000

export type Workers = { wake(): void; stop(): Promise<void> }
type OnTrouble = (error: unknown) => void

// Asks about attempts that are due, and ends payments whose time is over. Every node runs them: attempts are leased,
// and each payment is changed under its own lock.
export function startWorkers(
  asking: Asking & Pick<Gate, 'wake'>,
  onTrouble: OnTrouble,
  pause?: Pause,
): Workers {
  const asks = startAsking(asking, onTrouble, pause)
  const expiry = startLoop({
    restMs: expireRestMs,
    async step() {
      const ended = await expireDue(asking.db, asking.clock())
      if (ended > 0) asking.wake('tellers')
      return ended
    },
    onTrouble,
    pause,
  })
  const bringing = startLoop({
    restMs: bringRestMs,
    step: () => bringForward(asking, onTrouble),
    onTrouble,
    pause,
  })
  return {
    wake: asks.wake,
    stop: async () => void (await Promise.all([asks.stop(), expiry.stop(), bringing.stop()])),
  }
}
