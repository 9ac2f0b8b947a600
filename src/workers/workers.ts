import type { Asking } from '../actions/ask.ts'
import { startAsking } from '../actions/askDue.ts'
import type { Gate } from '../actions/gate.ts'
import type { OnLeftOut } from '../actions/leftOut.ts'
import type { OnUnreadable } from '../actions/unreadableMerchants.ts'
import { startExpiry } from './expiry.ts'
import { startLoop } from './loop.ts'
import { startSettingsWatch } from './settings.ts'

const askRestMs = 500
const maxUnderWay = 50 // attempts that are being asked about; with its callers this stays within the channel's bound

export type Workers = { wake(): void; stop(): Promise<void> }
type OnTrouble = (error: unknown) => void
export type WorkersWatch = { leftOut: OnLeftOut; unreadable: OnUnreadable }

// Asks about attempts that are due, and ends payments whose time is over. Every node runs them: attempts are leased,
// and payments are changed by whoever holds them.
export function startWorkers(
  asking: Asking & Pick<Gate, 'wake'>,
  onTrouble: OnTrouble,
  { leftOut, unreadable }: WorkersWatch,
): Workers {
  const asks = startAskingLoop(asking, onTrouble)
  const expiry = startExpiry(asking, { leftOut, trouble: onTrouble })
  const settings = startSettingsWatch(asking, unreadable, onTrouble)
  return {
    wake: asks.wake,
    stop: async () => void (await Promise.all([asks.stop(), expiry.stop(), settings.stop()])),
  }
}

function startAskingLoop(asking: Asking, onTrouble: OnTrouble): Workers {
  const underWay = new Set<Promise<void>>()

  async function step() {
    if (underWay.size >= maxUnderWay) await Promise.race(underWay)
    const begun = await startAsking(asking, maxUnderWay - underWay.size, onTrouble)
    for (const asked of begun) {
      underWay.add(asked)
      void asked.finally(() => underWay.delete(asked))
    }
    return begun.length
  }

  const loop = startLoop({ restMs: askRestMs, step, onTrouble })
  return {
    wake: loop.wake,
    async stop() {
      await loop.stop()
      await Promise.all(underWay)
    },
  }
}
