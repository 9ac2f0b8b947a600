import { createExpiry } from '../actions/payments/expire.ts'
import { createOverdueWatch, type OverdueWatch } from '../actions/providers/overdueAttempts.ts'
import { createPollers } from '../actions/providers/pollDue.ts'
import { createRefundPollers } from '../actions/refunds/pollRefunds.ts'
import { type OnUnreadable, unreadableMerchants } from '../actions/merchants/setMerchant.ts'
import type { Pause } from '../core/databaseClock.ts'
import { alwaysSearching, type GatedWork } from '../runtime/dueWork.ts'
import type { Heartbeats, WorkerName } from '../runtime/heartbeats.ts'
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

type Workers = {
  wake(): void
  waiting: OverdueWatch['waiting']
  expirySearchedUntil(): Date
  stop(): Promise<void>
}
type WorkersWatch = {
  trouble(error: unknown): void
  leftOut?: OnSkippedRow
  unreadable?: OnUnreadable
  pause?: Pause
  work?: GatedWork
  heartbeats?: Heartbeats
}

// Polls due attempts and refunds, ends expired payments, and looks for attempts and refunds that no node polls. Every node runs these workers:
// attempts are leased, and payments are locked while they change. Merchants with settings that cannot be read are skipped
// silently by all work, and reported every ten minutes.
export function startWorkers(
  deps: PaymentDeps,
  {
    trouble: onTrouble,
    leftOut = () => {},
    unreadable = () => {},
    pause,
    work = alwaysSearching,
    heartbeats,
  }: WorkersWatch,
): Workers {
  const { db, clock, wake } = deps
  const polling = startPolling(deps, onTrouble, { pause, work, heartbeats })
  const refunding = startRefundPolling(deps, onTrouble, { pause, work, heartbeats })
  const expire = createExpiry(db.withQuota('expire'), leftOut, changes =>
    deps.localWorkers.observeStatuses?.(changes),
  )
  const overdue = createOverdueWatch(deps)
  async function endExpired() {
    const ended = await expire(clock())
    if (ended > 0) wake('senders')
    return ended
  }
  const repeat = (worker: WorkerName, restMs: number, step: LoopOptions['step']) =>
    startLoop({ restMs, step, onTrouble, pause, heartbeat: heartbeats?.of(worker) })
  const loops = [
    polling,
    refunding,
    repeat('expiry', expiryRestMs, work.gated('expiry', endExpired, expire.isSweepDue)),
    repeat('reschedule', rescheduleRestMs, () => reschedule(deps, onTrouble)),
    repeat('overdueAttempts', overdueRestMs, async () => void (await overdue.look())),
    startLoop({
      restMs: settingsRestMs,
      async step() {
        const merchants = await unreadableMerchants(db)
        if (merchants.length > 0) unreadable(merchants)
      },
      onTrouble,
      heartbeat: heartbeats?.of('merchantSettings'),
    }),
  ]
  return {
    wake() {
      polling.wake()
      refunding.wake()
    },
    waiting: overdue.waiting,
    expirySearchedUntil: expire.searchedUntil,
    async stop() {
      await Promise.all(loops.map(loop => loop.stop()))
    },
  }
}

// Polls due attempts, and those of the callbacks that this process receives. A stop waits for the polls in flight, which
// have deadlines.
export function startPolling(
  deps: PaymentDeps,
  onTrouble: (error: unknown) => void,
  { pause, work = alwaysSearching, heartbeats }: Pick<WorkersWatch, 'pause' | 'work' | 'heartbeats'> = {},
): Loop {
  const { localWorkers } = deps
  const pollers = createPollers(deps, { onTrouble, wake })
  const poller = { ...pollers.poller, room: () => (pause?.() ? 0 : pollers.poller.room()) }
  localWorkers.poller = poller
  const loop = startLoop({
    restMs: pollRestMs,
    step: work.gated('attempts', pollers.step),
    onTrouble,
    pause,
    heartbeat: heartbeats?.of('attempts'),
  })
  function wake() {
    work.reopen('attempts')
    loop.wake()
  }
  return {
    wake,
    async stop() {
      if (localWorkers.poller === poller) localWorkers.poller = undefined
      await loop.stop()
      await pollers.finished()
    },
  }
}

// Sends and polls due refunds, separately from attempts: no customer waits for them. A stop waits for the calls in flight.
function startRefundPolling(
  deps: PaymentDeps,
  onTrouble: (error: unknown) => void,
  { pause, work = alwaysSearching, heartbeats }: Pick<WorkersWatch, 'pause' | 'work' | 'heartbeats'>,
): Loop {
  const pollers = createRefundPollers(deps, { onTrouble, wake })
  const loop = startLoop({
    restMs: refundRestMs,
    step: work.gated('refunds', pollers.step),
    onTrouble,
    pause,
    heartbeat: heartbeats?.of('refunds'),
  })
  function wake() {
    work.reopen('refunds')
    loop.wake()
  }
  return {
    wake,
    async stop() {
      await loop.stop()
      await pollers.finished()
    },
  }
}
