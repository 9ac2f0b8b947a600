import type { OnUnreadable } from '../actions/merchants/setMerchant.ts'
import type { PaymentDeps } from '../actions/payments/deps.ts'
import { createOverdueWatch, type OverdueWatch } from '../actions/providers/overdueAttempts.ts'
import type { Pause } from '../core/databaseClock.ts'
import { reschedule } from '../runtime/reschedule.ts'
import type { OnSkippedRow } from '../runtime/skippedRows.ts'
import { startExpiry } from './expiry.ts'
import { startLoop } from './loop.ts'
import { startPolling } from './polling.ts'
import { startSettingsWatch } from './settings.ts'

const bringRestMs = 60_000
const overdueRestMs = 30_000

export type Workers = { wake(): void; waiting: OverdueWatch['waiting']; stop(): Promise<void> }
export type WorkersWatch = {
  trouble(error: unknown): void
  leftOut?: OnSkippedRow
  unreadable?: OnUnreadable
  pause?: Pause
}

// Asks about attempts that are due, and ends payments whose time is over. Every node runs them: attempts are leased,
// and payments are changed by whoever holds them.
export function startWorkers(
  deps: PaymentDeps,
  { trouble: onTrouble, leftOut = () => {}, unreadable = () => {}, pause }: WorkersWatch,
): Workers {
  const polling = startPolling(deps, onTrouble, pause)
  const expiry = startExpiry(deps, { leftOut, trouble: onTrouble, pause })
  const bringing = startLoop({
    restMs: bringRestMs,
    step: () => reschedule(deps, onTrouble),
    onTrouble,
    pause,
  })
  const overdue = createOverdueWatch(deps)
  const looking = startLoop({
    restMs: overdueRestMs,
    async step() {
      await overdue.look()
      return 0
    },
    onTrouble,
    pause,
  })
  const settings = startSettingsWatch(deps, unreadable, onTrouble)
  return {
    wake: polling.wake,
    waiting: overdue.waiting,
    async stop() {
      await Promise.all([polling, expiry, bringing, looking, settings].map(loop => loop.stop()))
    },
  }
}
