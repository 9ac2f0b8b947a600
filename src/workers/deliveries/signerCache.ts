import type { Mode } from '../../core/mode.ts'
import { createBatcher } from '../../runtime/batcher.ts'
import type { Db } from '../../store/db.ts'
import { findSigners, type MerchantSigner } from '../../store/merchants/signers.ts'
import type { MasterKeys } from '../../store/merchants/vault.ts'

const freshMs = 500 // a new secret signs on every node within a second
const maxCached = 10_000
const maxQueued = 5000

// Knows what signs for the merchants that are being notified, for half a second at a time.
// Those that it knows it gives at once.
export type SignerCache = { find(merchant_id: string, mode: Mode): Found | Promise<Found> }
type Found = MerchantSigner | undefined

export function createSignerCache(db: Db, masterKeys: MasterKeys, clock: () => Date): SignerCache {
  const cache = new Map<string, { signers: readonly MerchantSigner[]; readAt: number }>()
  const loads = createBatcher<string, readonly MerchantSigner[]>({
    run: async ids => {
      const all = await findSigners(db, masterKeys, [...new Set(ids)], clock())
      return ids.map(id => all.filter(({ merchant_id }) => merchant_id === id))
    },
    maxRows: 200,
    maxInFlight: 2,
    maxQueued,
  })

  async function load(merchant_id: string) {
    const readAt = performance.now() // before the question: an answer is as old as its question
    const signers = await loads.add(merchant_id)
    cache.delete(merchant_id)
    cache.set(merchant_id, { signers, readAt })
    if (cache.size > maxCached) cache.delete(cache.keys().next().value as string)
    return signers
  }

  return {
    find(merchant_id, mode) {
      const ofMode = (signers: readonly MerchantSigner[]) => signers.find(signer => signer.mode === mode)
      const known = cache.get(merchant_id)
      const isFresh = known && performance.now() - known.readAt < freshMs
      return isFresh ? ofMode(known.signers) : load(merchant_id).then(ofMode)
    },
  }
}
