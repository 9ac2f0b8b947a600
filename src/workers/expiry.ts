import { createExpiry } from '../actions/payments/expire.ts'
import type { Pause } from '../core/databaseClock.ts'
import type { OnSkippedRow } from '../runtime/skippedRows.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { type Loop, startLoop } from './loop.ts'

const restMs = 1000

export type ExpiryWatch = { leftOut: OnSkippedRow; trouble(error: unknown): void; pause?: Pause }

// Ends payments whose time is over. Every node does.
export function startExpiry(
  { db, clock, wake }: Pick<Runtime, 'db' | 'clock' | 'wake'>,
  watch: ExpiryWatch,
): Loop {
  const expire = createExpiry(db.withQuota('expire'), watch.leftOut)
  return startLoop({
    restMs,
    async step() {
      const ended = await expire(clock())
      if (ended > 0) wake('senders')
      return ended
    },
    onTrouble: watch.trouble,
    pause: watch.pause,
  })
}
