import type { Pause } from '../core/databaseClock.ts'

// A pause of workers that lasts until `end` is called.
export function newPause() {
  let end: (() => void) | undefined
  const over = new Promise<void>(resolve => void (end = resolve))
  return { over, end: () => end?.() }
}

// Workers work if none of these pauses holds.
export const anyPause =
  (...pauses: readonly Pause[]): Pause =>
  () => {
    for (const pause of pauses) {
      const over = pause()
      if (over) return over
    }
    return undefined
  }
