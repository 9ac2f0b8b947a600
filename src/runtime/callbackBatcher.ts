import type { Db } from '../store/db.ts'
import { promptAttempt, readAttemptStates, recordCallbacks } from '../store/payments/callbacks.ts'
import { createBatcher } from './batcher.ts'
import type { LocalWorkers } from './localWorkers.ts'

type Callback = { merchant_id: string; attempt_id: string; now: Date }
// `polled`: by this process, now. `due`: for any node. `paid`: nothing is left to ask. `locked`: by another transaction.
// Undefined: there is no such attempt.
type RecordedAs = 'polled' | 'due' | 'paid' | 'locked' | undefined
// Callbacks from an address that sent many unknown ids have their own queue and connection quota, so that they do not
// delay others.
export type CallbackQueue = 'usual' | 'suspect'
export type CallbackBatcher = { record(callback: Callback, queue?: CallbackQueue): Promise<RecordedAs> }

const limits = { maxRows: 100, maxInFlight: 1, maxQueued: 5000 } // one in flight: the poller's room is counted in between

// Callbacks that arrive together are recorded by one statement. If the poller of this process has room, the statement also
// leases the attempts to it. Unknown ids are found in the same batch, without statements of their own.
export function createCallbackBatcher(db: Db, local: LocalWorkers): CallbackBatcher {
  const queues = {
    usual: createQueue(db.withQuota('callback'), local),
    suspect: createQueue(db.withQuota('suspect_callback'), local),
  }
  return { record: (callback, queue = 'usual') => queues[queue](callback) }
}

function createQueue(db: Db, local: LocalWorkers) {
  async function recordAll(items: readonly Callback[]): Promise<RecordedAs[]> {
    const { poller } = local
    const room = poller?.room() ?? 0
    const each = [...new Map(items.map(item => [item.attempt_id, item])).values()] // one poll per attempt, however many callbacks came
    const now = new Date(Math.max(...each.map(item => item.now.getTime())))
    const lease = poller?.lease(now) ?? { now, until: now }
    const callbacks = each.map((item, at) => ({ ...item, isTaken: at < room }))
    const found = await recordCallbacks(db, callbacks, lease, poller?.opened() ?? [])
    const recorded = new Map<string, RecordedAs>()
    for (const { is_leased, ...attempt } of found) {
      recorded.set(attempt.attempt_id, is_leased ? 'polled' : 'due')
      if (is_leased) poller?.poll(attempt)
    }
    const others = each.filter(({ attempt_id }) => !recorded.has(attempt_id))
    for (const { attempt_id, state } of others.length > 0 ? await readAttemptStates(db, others) : [])
      recorded.set(attempt_id, state === 'paid' ? 'paid' : 'locked')
    return items.map(({ attempt_id }) => recorded.get(attempt_id))
  }
  const batcher = createBatcher<Callback, RecordedAs>({ ...limits, isHanging: db.isHanging, run: recordAll })
  // An attempt that another transaction has locked is updated by a statement of its own, which waits.
  return async (callback: Callback): Promise<RecordedAs> => {
    const recorded = await batcher.add(callback)
    if (recorded !== 'locked') return recorded
    return (await promptAttempt(db, callback, callback.now)) ? 'due' : 'paid'
  }
}
