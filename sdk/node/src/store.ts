/**
 * Remembers which changes of status your function has completed, so that it is called once for each invoice and status.
 * A key is text such as `live:AMA-1042:paid`. Three methods are enough; the README has them for PostgreSQL.
 *
 * A claim that is neither completed nor released, because its process ended, expires after `leaseMs`. Then another
 * process claims it and your function is called again: at least once, never lost.
 *
 * @example
 * const store: NotificationStore = memoryStore() // for development; use fileStore or your database in production
 */
export type NotificationStore = {
  /**
   * Claims the key for `owner`, unless it is completed (`done`) or claimed by another whose claim has not expired
   * (`busy`). It must be atomic: of two simultaneous calls, one returns `claimed`.
   */
  claim(key: string, owner: string, leaseMs: number): Promise<'claimed' | 'busy' | 'done'>
  /** Marks the key as completed, for good. */
  complete(key: string, owner: string): Promise<unknown>
  /** Removes the claim of this owner, so that the next delivery can claim it. Another owner's claim stays. */
  release(key: string, owner: string): Promise<unknown>
}

const maxKeys = 100_000
const completed = Number.POSITIVE_INFINITY // never expires

/**
 * A store in the memory of this process. A restart forgets everything, so your function may be called again for a
 * status that it has completed. Use it for development and tests.
 *
 * @example
 * await tollgate.handleNotification({ request, store: memoryStore(), findOrder, onStatus })
 */
export function memoryStore(): NotificationStore {
  const claims = new Map<string, { owner: string; until: number }>()
  return {
    async claim(key, owner, leaseMs) {
      const { until = 0 } = claims.get(key) ?? {}
      if (until === completed) return 'done'
      if (until > Date.now()) return 'busy'
      claims.set(key, { owner, until: Date.now() + leaseMs })
      const [oldest] = claims.keys()
      if (claims.size > maxKeys && oldest !== undefined) claims.delete(oldest)
      return 'claimed'
    },
    async complete(key, owner) {
      claims.set(key, { owner, until: completed })
    },
    async release(key, owner) {
      const claim = claims.get(key)
      if (claim?.owner === owner && claim.until !== completed) claims.delete(key)
    },
  }
}
