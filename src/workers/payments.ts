import { createExpiry } from '../actions/payments/expire.ts'
import { createOverdueWatch, type OverdueWatch } from '../actions/providers/overdueAttempts.ts'
import { createPollers } from '../actions/providers/pollDue.ts'
import { createRefundPollers } from '../actions/refunds/pollRefunds.ts'
import { type OnUnreadable, unreadableMerchants } from '../actions/merchants/setMerchant.ts'
import type { Pause } from '../core/databaseClock.ts'
import { reschedule } from '../runtime/reschedule.ts'
import type { PaymentDeps } from '../runtime/runtime.ts'
import type { OnSkippedRow } from '../runtime/skippedRows.ts'
import { type Loop, type LoopOptions, startLoop } from './loop.ts'

const pollRestMs = 500
const refundRestMs = 1000
const expiryRestMs = 1000
const rescheduleRestMs = 60_000
const overdueRestMs = 30_000
const settingsRestMs = 10 * 60_000

type Workers = { wake(): void; waiting: OverdueWatch['waiting']; stop(): Promise<void> }
type WorkersWatch = {
  trouble(error: unknown): void
  leftOut?: OnSkippedRow
  unreadable?: OnUnreadable
  pause?: Pause
}

// Polls due attempts and refunds, ends expired payments, and looks for attempts and refunds that no node polls. Every node runs these workers:
// attempts are leased, and payments are locked while they change. Merchants with settings that cannot be read are skipped
// silently by all work, and reported every ten minutes.
export function startWorkers(
  deps: PaymentDeps,
  { trouble: onTrouble, leftOut = () => {}, unreadable = () => {}, pause }: WorkersWatch,
): Workers {
  const { db, clock, wake } = deps
  const polling = startPolling(deps, onTrouble, pause)
  const refunding = startRefundPolling(deps, onTrouble, pause)
  const expire = createExpiry(db.withQuota('expire'), leftOut)
  const overdue = createOverdueWatch(deps)
  const repeat = (restMs: number, step: LoopOptions['step']) => startLoop({ restMs, step, onTrouble, pause })
  const loops = [
    polling,
    refunding,
    repeat(expiryRestMs, async () => {
      const ended = await expire(clock())
      if (ended > 0) wake('senders')
      return ended
    }),
    repeat(rescheduleRestMs, () => reschedule(deps, onTrouble)),
    repeat(overdueRestMs, async () => void (await overdue.look())),
    startLoop({
      restMs: settingsRestMs,
      async step() {
        const merchants = await unreadableMerchants(db)
        if (merchants.length > 0) unreadable(merchants)
      },
      onTrouble,
    }),
  ]
  return {
    wake() {
      polling.wake()
      refunding.wake()
    },
    waiting: overdue.waiting,
    async stop() {
      await Promise.all(loops.map(loop => loop.stop()))
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

// Sends and polls due refunds, separately from attempts: no customer waits for them. A stop waits for the calls in flight.
function startRefundPolling(deps: PaymentDeps, onTrouble: (error: unknown) => void, pause?: Pause): Loop {
  const pollers = createRefundPollers(deps, { onTrouble, wake: () => loop.wake() })
  const loop = startLoop({ restMs: refundRestMs, step: pollers.step, onTrouble, pause })
  return {
    wake: loop.wake,
    async stop() {
      await loop.stop()
      await pollers.finished()
    },
  }
}
