import type { Mode } from '../core/mode.ts'
import type { Db } from '../store/db.ts'
import { type Caller, findCallers } from '../store/merchants/callers.ts'
import { findSigners } from '../store/merchants/signers.ts'
import type { MasterKeys } from '../store/merchants/vault.ts'
import { createBatcher } from './batcher.ts'
import { databaseDeadline, inTime, requestMs, sharedDeadline } from './deadline.ts'
import { createUsedCredentials, type UsedCredentials } from './usedCredentials.ts'

const freshMs = 500 // a changed setting takes effect on every node within a second
const maxCached = 10_000
const maxQueued = 5000

// `isFresh`: read for this call, so it need not be read again.
export type CallerLookup = { caller: Caller | undefined; isFresh: boolean }

// Merchants by key, cached for half a second.
export type CallerCache = {
  find(merchant_key: string): Promise<CallerLookup>
  findFresh(merchant_key: string): Promise<Caller | undefined>
  findIpnKey(merchant_id: string, mode: Mode): Promise<Buffer | undefined> // the newest; not cached
  used: UsedCredentials // the keys of accepted requests
  depth(): number
}

export function createCallerCache(
  db: Db,
  masterKeys: MasterKeys,
  clock: () => Date,
  monotonicMs: () => number,
): CallerCache {
  const cache = new Map<string, { caller: Caller; readAt: number }>()
  const loads = createBatcher<string, Caller | undefined>({
    run: async keys => {
      const found = await findCallers(db.withDeadline(sharedDeadline()), masterKeys, [...new Set(keys)])
      const callers = new Map(found.map(caller => [caller.merchant_key, caller]))
      return keys.map(key => callers.get(key))
    },
    maxRows: 200,
    maxInFlight: 2,
    maxQueued,
    maxWaitMs: requestMs,
    isHanging: db.isHanging,
  })

  async function findFresh(merchant_key: string) {
    const readAt = monotonicMs() // before the query, so that its time does not count as fresh
    const loaded = loads.add(isPossibleKey(merchant_key) ? merchant_key : '')
    const caller = await inTime(databaseDeadline(), loaded)
    cache.delete(merchant_key)
    if (!caller) return undefined
    cache.set(merchant_key, { caller, readAt })
    if (cache.size > maxCached) cache.delete(cache.keys().next().value as string)
    return isValid(caller) ? caller : undefined
  }

  const isValid = ({ expires_at }: Caller) => !expires_at || expires_at > clock()

  return {
    findFresh,
    // An expired key is read again each time, like an unknown one.
    async find(merchant_key) {
      const cached = cache.get(merchant_key)
      if (cached && monotonicMs() - cached.readAt < freshMs && isValid(cached.caller))
        return { caller: cached.caller, isFresh: false }
      return { caller: await findFresh(merchant_key), isFresh: true }
    },
    async findIpnKey(merchant_id, mode) {
      const signers = await findSigners(db.withDeadline(sharedDeadline()), masterKeys, [merchant_id], clock())
      return signers.find(signer => signer.mode === mode)?.keys[0]
    },
    used: createUsedCredentials(),
    depth: loads.depth,
  }
}

// A text that cannot be a key is looked up as the empty key, so that it takes as long as any other failed lookup.
const isPossibleKey = (text: string) => /^[\x21-\x7e]{1,100}$/.test(text)
