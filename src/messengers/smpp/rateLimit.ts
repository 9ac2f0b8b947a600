import { setTimeout as sleep } from 'node:timers/promises'

const maxSlowness = 16
const breathMs = 1000 // nothing at all right after a "too fast"

export type SmppRateLimit = {
  turn(maxMs: number): Promise<boolean> // false: it would come later than that
  slow(): void
}

// So many turns a second, evenly. Told that it is too fast, it goes at half the pace for a while, and again.
export function openSmppRateLimit(rate: number, slowMs: number): SmppRateLimit {
  let nextAt = 0
  let slowness = 1
  let slowUntil = 0
  return {
    async turn(maxMs) {
      const now = performance.now()
      if (now >= slowUntil) slowness = 1
      const at = Math.max(now, nextAt)
      if (at - now > maxMs) return false
      nextAt = at + (1000 / rate) * slowness
      if (at > now) await sleep(at - now)
      return true
    },
    slow() {
      const now = performance.now()
      slowness = Math.min(slowness * 2, maxSlowness)
      slowUntil = now + slowMs
      nextAt = Math.max(nextAt, now + Math.min(breathMs, slowMs))
    },
  }
}
