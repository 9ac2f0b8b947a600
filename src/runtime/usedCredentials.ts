const mostKept = 10_000 // credentials; more are not recorded until the next `take`

// The ids of credentials that were used since the last `take`, each with its merchant. A request only adds to it: a worker
// writes the times.
export type UsedCredentials = {
  add(id: string, merchant_id: string): void
  take(): ReadonlyMap<string, string>
}

export function createUsedCredentials(): UsedCredentials {
  let used = new Map<string, string>()
  return {
    add(id, merchant_id) {
      if (used.size < mostKept) used.set(id, merchant_id)
    },
    take() {
      const taken = used
      used = new Map()
      return taken
    },
  }
}
