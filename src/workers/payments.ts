import { createExpiry } from '../actions/payments/expire.ts'
import { createOverdueWatch, type OverdueWatch } from '../actions/providers/overdueAttempts.ts'
import { createPollers } from '../actions/providers/pollDue.ts'
import type { OnUnreadable } from '../actions/merchants/setMerchant.ts'
import type { Pause } from '../core/databaseClock.ts'
import { reschedule } from '../runtime/reschedule.ts'
import type { PaymentDeps } from '../runtime/runtime.ts'
import type { OnSkippedRow } from '../runtime/skippedRows.ts'
import { type Loop, startLoop } from './loop.ts'
import { startSettingsWatch } from './settings.ts'

const pollRestMs = 500
const expiryRestMs = 1000
const rescheduleRestMs = 60_000
const overdueRestMs = 30_000

export type Workers = { wake(): void; waiting: OverdueWatch['waiting']; stop(): Promise<void> }
export type WorkersWatch = {
  trouble(error: unknown): void
  leftOut?: OnSkippedRow
  unreadable?: OnUnreadable
  pause?: Pause
}

// Polls due attempts, ends expired payments, and looks for attempts that no node polls. Every node runs these workers:
// attempts are leased, and payments are locked while they change.
export function startWorkers(
  deps: PaymentDeps,
  { trouble: onTrouble, leftOut = () => {}, unreadable = () => {}, pause }: WorkersWatch,
): Workers {
  const polling = startPolling(deps, onTrouble, pause)
  const expiry = startExpiry(deps, leftOut, onTrouble, pause)
  const rescheduling = startLoop({
    restMs: rescheduleRestMs,
    step: () => reschedule(deps, onTrouble),
    onTrouble,
    pause,
  })
  const overdue = createOverdueWatch(deps)
  const watching = startLoop({
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
      await Promise.all([polling, expiry, rescheduling, watching, settings].map(loop => loop.stop()))
    },
  }
}

// Polls due attempts, and those of the callbacks that this process receives. A stop waits for the polls in flight, which
// have deadlines.
export function startPolling(deps: PaymentDeps, onTrouble: (error: unknown) => void, pause?: Pause): Loop {
  const { localWorkers } = deps
  const pollers = createPollers(deps, { onTrouble, wake: () => loop.wake() })
  const poller = { ...pollers.poller, room: () => (pause?.() ? 0 : pollers.poller.room()) }
  localWorkers.poller = poller
  const loop = startLoop({ restMs: pollRestMs, step: pollers.step, onTrouble, pause })
  return {
    wake: loop.wake,
    async stop() {
      if (localWorkers.poller === poller) localWorkers.poller = undefined
      await loop.stop()
      await pollers.finished()
    },
  }
}

function startExpiry(
  { db, clock, wake }: PaymentDeps,
  leftOut: OnSkippedRow,
  onTrouble: (error: unknown) => void,
  pause?: Pause,
): Loop {
  const expire = createExpiry(db.withQuota('expire'), leftOut)
  return startLoop({
    restMs: expiryRestMs,
    async step() {
      const ended = await expire(clock())
      if (ended > 0) wake('senders')
      return ended
    },
    onTrouble,
    pause,
  })
}
