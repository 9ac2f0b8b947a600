import type { Asking } from '../actions/ask.ts'
import { askDue } from '../actions/askDue.ts'
import { expireDue } from '../actions/expire.ts'
import { type Loop, startLoop } from './loop.ts'

const askRestMs = 500
const expireRestMs = 1000

export type Workers = { wake(): void; stop(): Promise<void> }

// Asks about attempts that are due, and ends payments whose time is over. Every node runs them: attempts are leased,
// and each payment is changed under its own lock.
export function startWorkers(asking: Asking, onTrouble: (error: unknown) => void): Workers {
  const asks = startLoop({ restMs: askRestMs, step: () => askDue(asking, onTrouble), onTrouble })
  const expiry: Loop = startLoop({
    restMs: expireRestMs,
    step: () => expireDue(asking.db, asking.clock()),
    onTrouble,
  })
  return {
    wake: asks.wake,
    stop: async () => void (await Promise.all([asks.stop(), expiry.stop()])),
  }
}
