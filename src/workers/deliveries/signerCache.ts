import type { Mode } from '../../core/mode.ts'
import { createBatcher } from '../../runtime/batcher.ts'
import type { Db } from '../../store/db.ts'
import { findSigners, type MerchantSigner } from '../../store/merchants/signers.ts'
import type { MasterKeys } from '../../store/merchants/vault.ts'

const freshMs = 500 // a new secret signs on every node within a second
const askAgainMs = freshMs / 2 // while the answer of before still counts, so that hardly anybody waits for the new one
const maxCached = 10_000
const maxQueued = 5000

// Knows what signs for the merchants that are being notified, for half a second at a time.
// Those that it knows it gives at once; those that it is told to prepare it reads before they are asked for.
export type SignerCache = {
  find(merchant_id: string, mode: Mode): Found | Promise<Found>
  prepare?(merchant_id: string): void
}
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

  type Asked = { askedAt: number; answer: Promise<readonly MerchantSigner[]> }
  const asked = new Map<string, Asked>()

  // Who comes while the question is on its way waits for the same answer.
  function ask(merchant_id: string): Asked['answer'] {
    const before = asked.get(merchant_id)
    if (before && performance.now() - before.askedAt < askAgainMs) return before.answer
    const one: Asked = { askedAt: performance.now(), answer: load(merchant_id) }
    asked.set(merchant_id, one)
    const done = () => void (asked.get(merchant_id) === one && asked.delete(merchant_id))
    one.answer.then(done, done) // ahead of time: who needs it when it is too old hears of the trouble
    return one.answer
  }

  function ageMs(merchant_id: string) {
    const known = cache.get(merchant_id)
    return known ? performance.now() - known.readAt : Infinity
  }

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
      const age = ageMs(merchant_id)
      if (age >= freshMs) return ask(merchant_id).then(ofMode)
      if (age >= askAgainMs) void ask(merchant_id).catch(() => {})
      return ofMode(cache.get(merchant_id)?.signers ?? [])
    },
    prepare(merchant_id) {
      if (ageMs(merchant_id) >= askAgainMs) void ask(merchant_id).catch(() => {})
    },
  }
}
