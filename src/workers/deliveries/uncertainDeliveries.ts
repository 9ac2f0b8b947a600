import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../store/db.ts'
import { undoLeases } from '../../store/notifications/orphans.ts'
import type { PaymentKey } from '../../store/payments/paymentKeys.ts'

const waitsMs = [20, 1000, 3000, 10_000] // the server may still be at it; after that the lease is over soon

type DoubtOptions = { db: Db; freed(): void; trouble(error: unknown): void }

// Deliveries with a lease of ours that nobody carries: to be written by a commit of which nobody heard, or taken when we
// could not be sure of our leases any more. If they are there, they become free again.
export function createUncertainDeliveries({ db, freed, trouble }: DoubtOptions) {
  const open = new Set<Promise<void>>()
  let hurry = new AbortController()

  async function undo(keys: readonly PaymentKey[], token: string, { signal }: AbortController) {
    for (const ms of waitsMs) {
      await sleep(ms, undefined, { signal, ref: false }).catch(() => {})
      const count = await undoLeases(db, keys, token).catch(trouble)
      if (count) freed()
      if (count || signal.aborted) return
    }
  }

  return {
    add(keys: readonly PaymentKey[], token: string) {
      const undoing = undo(keys, token, hurry).finally(() => open.delete(undoing))
      open.add(undoing)
    },
    // One last look at each.
    async ended() {
      hurry.abort()
      hurry = new AbortController()
      await Promise.all(open)
    },
  }
}
