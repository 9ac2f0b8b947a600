import type { Db } from '../store/db.ts'
import { promptAttempt, readAttemptStates, recordCallbacks } from '../store/payments/callbacks.ts'
import { createBatcher } from './batcher.ts'
import type { LocalWorkers } from './localWorkers.ts'

type Callback = { merchant_id: string; attempt_id: string; now: Date }
// `polled`: this process polls the attempt now. `due`: any node polls it. `paid`: no poll is needed. `locked`: another
// transaction has locked it. Undefined: the attempt does not exist.
type CallbackResult = 'polled' | 'due' | 'paid' | 'locked' | undefined
// Callbacks from an address that sent many unknown ids have their own queue and connection quota, so that they do not
// delay others.
export type CallbackQueue = 'usual' | 'suspect'
export type CallbackBatcher = { record(callback: Callback, queue?: CallbackQueue): Promise<CallbackResult> }

const limits = { maxRows: 100, maxInFlight: 1, maxQueued: 5000 } // one in flight, because the room of the poller is counted between two batches

// Callbacks that arrive together are recorded by one statement. If the poller of this process has room, the statement also
// leases the attempts to it. Unknown ids are detected in the same batch, without a statement for each.
export function createCallbackBatcher(db: Db, local: LocalWorkers): CallbackBatcher {
  const queues = {
    usual: createQueue(db.withQuota('callback'), local),
    suspect: createQueue(db.withQuota('suspect_callback'), local),
  }
  return { record: (callback, queue = 'usual') => queues[queue](callback) }
}

function createQueue(db: Db, local: LocalWorkers) {
  async function recordAll(items: readonly Callback[]): Promise<CallbackResult[]> {
    const { poller } = local
    const room = poller?.room() ?? 0
    const each = [...new Map(items.map(item => [item.attempt_id, item])).values()] // one poll per attempt, however many callbacks it has
    const now = new Date(Math.max(...each.map(item => item.now.getTime())))
    const lease = poller?.lease(now) ?? { now, until: now }
    const callbacks = each.map((item, at) => ({ ...item, isTaken: at < room }))
    const found = await recordCallbacks(db, callbacks, lease, poller?.opened() ?? [])
    const recorded = new Map<string, CallbackResult>()
    for (const { is_leased, ...attempt } of found) {
      recorded.set(attempt.attempt_id, is_leased ? 'polled' : 'due')
      if (is_leased) poller?.poll(attempt)
    }
    const missing = each.filter(({ attempt_id }) => !recorded.has(attempt_id))
    for (const { attempt_id, state } of missing.length > 0 ? await readAttemptStates(db, missing) : [])
      recorded.set(attempt_id, state === 'paid' ? 'paid' : 'locked')
    return items.map(({ attempt_id }) => recorded.get(attempt_id))
  }
  const batcher = createBatcher<Callback, CallbackResult>({
    ...limits,
    isHanging: db.isHanging,
    run: recordAll,
  })
  // An attempt that another transaction has locked is updated by a separate statement, which waits for the lock.
  return async (callback: Callback): Promise<CallbackResult> => {
    const recorded = await batcher.add(callback)
    if (recorded !== 'locked') return recorded
    return (await promptAttempt(db, callback, callback.now)) ? 'due' : 'paid'
  }
}
