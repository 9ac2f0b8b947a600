import type { Asking } from '../actions/ask.ts'
import { startAsking } from '../actions/askDue.ts'
import type { CourierOptions } from '../actions/courier.ts'
import { expireDue } from '../actions/expire.ts'
import type { Wakeable } from '../actions/gate.ts'
import { type Loop, startLoop } from './loop.ts'
import { type Deliveries, startDeliveries } from './deliveries.ts'

const askRestMs = 500
const expireRestMs = 1000
const maxUnderWay = 50 // attempts that are being asked about; with its callers this stays within the channel's bound

export type Workers = {
  deliveries: Deliveries
  wake(who: Wakeable): void
  stop(): Promise<void>
}
export type WorkersOptions = { asking: Asking; courier: Omit<CourierOptions, 'wake'>; onTrouble: OnTrouble }
type OnTrouble = (error: unknown) => void

// Asks about attempts that are due, ends payments whose time is over, and tells of what changed. Every node runs them:
// attempts and deliveries are leased, and each payment is changed under its own lock.
export function startWorkers({ asking, courier, onTrouble }: WorkersOptions): Workers {
  const asks = startAskingLoop(asking, onTrouble)
  const deliveries = startDeliveries(courier)
  const expiry = startLoop({
    restMs: expireRestMs,
    async step() {
      const ended = await expireDue(asking.db, asking.clock())
      if (ended > 0) deliveries.wake()
      return ended
    },
    onTrouble,
  })
  const wakers: Record<Wakeable, () => void> = { askers: asks.wake, tellers: deliveries.wake }
  return {
    deliveries,
    wake: who => wakers[who](),
    // First whoever changes payments, then whoever tells of it.
    async stop() {
      await Promise.all([asks.stop(), expiry.stop()])
      await deliveries.stop()
    },
  }
}

function startAskingLoop(asking: Asking, onTrouble: OnTrouble): Loop {
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
