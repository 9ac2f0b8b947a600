import type { Mode } from '../../core/mode.ts'
import { createBatcher } from '../../runtime/batcher.ts'
import { createUsedCredentials, type UsedCredentials } from '../../runtime/usedCredentials.ts'
import type { Db } from '../../store/db.ts'
import { findSigners, type MerchantSigner } from '../../store/merchants/signers.ts'
import type { MasterKeys } from '../../store/merchants/vault.ts'

const freshMs = 500 // a new secret is used by every node within a second
const refreshMs = freshMs / 2 // read again while the cached value is still valid, so that tries rarely wait
const maxCached = 10_000
const maxQueued = 5000

// Caches the signing secrets of merchants for half a second. `find` returns a cached value without a promise. `prepare`
// reads a value before it is needed.
export type SignerCache = {
  find(merchant_id: string, mode: Mode): MerchantSigner | undefined | Promise<MerchantSigner | undefined>
  prepare?(merchant_id: string): void
  used?: UsedCredentials // the secrets that signed a notification
}

export function createSignerCache(
  db: Db,
  masterKeys: MasterKeys,
  clock: () => Date,
): SignerCache & { used: UsedCredentials } {
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

  type Reading = { startedAt: number; signers: Promise<readonly MerchantSigner[]> }
  const readings = new Map<string, Reading>()

  // Callers share a read that is under way.
  function read(merchant_id: string): Reading['signers'] {
    const before = readings.get(merchant_id)
    if (before && performance.now() - before.startedAt < refreshMs) return before.signers
    const reading: Reading = { startedAt: performance.now(), signers: load(merchant_id) }
    readings.set(merchant_id, reading)
    const done = () => void (readings.get(merchant_id) === reading && readings.delete(merchant_id))
    reading.signers.then(done, done)
    return reading.signers
  }

  function ageMs(merchant_id: string) {
    return performance.now() - (cache.get(merchant_id)?.readAt ?? -Infinity)
  }

  async function load(merchant_id: string) {
    const readAt = performance.now() // before the query, so that the age is never underestimated
    const signers = await loads.add(merchant_id)
    cache.delete(merchant_id)
    cache.set(merchant_id, { signers, readAt })
    if (cache.size > maxCached) cache.delete(cache.keys().next().value as string)
    return signers
  }

  return {
    find(merchant_id, mode) {
      const ofMode = (signers: readonly MerchantSigner[]) => signers.find(signer => signer.mode === mode)
      const age = ageMs(merchant_id)
      if (age >= freshMs) return read(merchant_id).then(ofMode)
      if (age >= refreshMs) void read(merchant_id).catch(() => {}) // a caller that needs it later gets the error
      return ofMode(cache.get(merchant_id)?.signers ?? [])
    },
    used: createUsedCredentials(),
    prepare(merchant_id) {
      if (ageMs(merchant_id) >= refreshMs) void read(merchant_id).catch(() => {})
    },
  }
}
