import type { Heartbeats } from '../runtime/heartbeats.ts'
import type { Pause } from '../core/databaseClock.ts'
import { ShardUnavailable } from '../core/interface/refusal.ts'
import {
  type RecordRefusal,
  type RefusedRequest,
  refusedRequest,
  requestsKeptDays,
  storedPerCode,
} from '../core/interface/refusedRequest.ts'
import type { Db } from '../store/db.ts'
import {
  addRefusedCounts,
  addRefusedRequests,
  forgetRefused,
  type RefusedCount,
} from '../store/requestLog.ts'
import { startLoop } from './loop.ts'

const writeMs = 1000
const rowsAtOnce = 500
const maxQueued = 2000 // about 2 kB each
const maxGroups = 10_000
const writeTimeoutMs = 5000
const forgetRestMs = 3_600_000
const forgottenAtOnce = 5000
const dayMs = 86_400_000

export type RefusalOutcome = 'stored' | 'over_cap' | 'dropped' | 'no_merchant'

type RequestLogOptions = {
  db: Db
  clock(): Date
  pause?: Pause
  observe(outcome: RefusalOutcome, count: number): void
  trouble(error: unknown): void
  heartbeats?: Heartbeats
}

export type RequestLog = { record: RecordRefusal; flush(): Promise<void>; stop(): Promise<void> }

type Group = Omit<RefusedCount, 'refused'>
type Pending = { requests: RefusedRequest[]; counts: Map<string, RefusedCount> }

const keyOf = ({ merchant_id, mode, day, code }: Group) => `${merchant_id} ${mode} ${day} ${code}`
const dayOf = (at: Date) => at.toISOString().slice(0, 10)
const nothing = (): Pending => ({ requests: [], counts: new Map() })

// Stores refused requests, a second after they were refused at the latest. `record` only adds to a queue: no request waits
// for the database. When the queue is full or the write fails, requests are dropped and counted. Of one merchant, mode, day
// and code a limited number is stored: the counts in the database are those of all nodes. `seen` has those of this node, so
// that a flood costs neither masking nor memory.
export function startRequestLog(options: RequestLogOptions): RequestLog {
  const { db, clock, pause, observe, trouble, heartbeats } = options
  const writing = heartbeats?.of('requestLog')
  writing?.rests(Infinity) // until a request is refused
  const own = db.withQuota('requests')
  let pending = nothing()
  let seen = { day: '', counts: new Map<string, number>() }
  let timer: NodeJS.Timeout | undefined
  let written = Promise.resolve()

  const record: RecordRefusal = refused => {
    const { merchant, http, code } = refused.refusal
    if (http === 503) return // a failure of the gateway, and often of the database that this is written to
    if (!merchant) return observe('no_merchant', 1)
    const now = clock()
    const group = { ...merchant, day: dayOf(now), code }
    const key = keyOf(group)
    const count = pending.counts.get(key)
    if (pending.requests.length >= maxQueued || (!count && pending.counts.size >= maxGroups))
      return observe('dropped', 1)
    if (count) count.refused++
    else pending.counts.set(key, { ...group, refused: 1 })
    if (isWithinCap(group.day, key)) pending.requests.push(refusedRequest(refused, merchant, now))
    timer ??= setTimeout(() => void flush(), writeMs)
  }

  function isWithinCap(day: string, key: string): boolean {
    if (seen.day !== day || seen.counts.size > maxGroups) seen = { day, counts: new Map() }
    const before = seen.counts.get(key) ?? 0
    seen.counts.set(key, before + 1)
    return before < storedPerCode
  }

  // One write at a time. Requests that are refused meanwhile wait for the next.
  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    written = written.then(() => {
      const batch = pending
      pending = nothing()
      if (batch.counts.size === 0) return undefined
      writing?.beat()
      return writeBatch(own, batch, { observe, trouble }).finally(() => writing?.rests(Infinity))
    })
    return written
  }

  const forgetting = startLoop({
    restMs: forgetRestMs,
    step: () => forgetOldRefused(own, clock()),
    onTrouble: trouble,
    pause,
    heartbeat: heartbeats?.of('oldRequests'),
  })
  return {
    record,
    flush,
    async stop() {
      await flush()
      await forgetting.stop()
    },
  }
}

type Outcomes = Pick<RequestLogOptions, 'observe' | 'trouble'>

// Never rejects: requests that cannot be stored are dropped and counted. If a worker of a sharded database is gone, each
// merchant's are stored by themselves, so that only those of its merchants are dropped.
async function writeBatch(db: Db, batch: Pending, { observe, trouble }: Outcomes) {
  const inTime = db.withDeadline(performance.now() + writeTimeoutMs)
  const write = async (part: Pending) => {
    const stored = await storePart(inTime, part)
    if (stored > 0) observe('stored', stored)
    if (totalOf(part) > stored) observe('over_cap', totalOf(part) - stored)
  }
  const drop = (part: Pending) => observe('dropped', totalOf(part))
  try {
    await write(batch)
  } catch (error) {
    trouble(error)
    if (!(error instanceof ShardUnavailable)) return drop(batch)
    for (const part of byMerchant(batch)) await write(part).catch(() => drop(part))
  }
}

const totalOf = ({ counts }: Pending) => [...counts.values()].reduce((sum, { refused }) => sum + refused, 0)

const storePart = (db: Db, { requests, counts }: Pending): Promise<number> =>
  db.transaction(async tx => {
    const rows = withinCap(requests, counts, await addRefusedCounts(tx, [...counts.values()]))
    for (let at = 0; at < rows.length; at += rowsAtOnce)
      await addRefusedRequests(tx, rows.slice(at, at + rowsAtOnce))
    return rows.length
  })

function byMerchant({ requests, counts }: Pending): Pending[] {
  const parts = new Map<string, Pending>()
  for (const [key, count] of counts) {
    const part = parts.get(count.merchant_id) ?? nothing()
    part.counts.set(key, count)
    parts.set(count.merchant_id, part)
  }
  for (const request of requests) parts.get(request.merchant_id)?.requests.push(request)
  return [...parts.values()]
}

// The requests that fit into the cap of their group. `totals` are the counts of all nodes, including those of this batch.
function withinCap(
  requests: readonly RefusedRequest[],
  counts: ReadonlyMap<string, RefusedCount>,
  totals: readonly RefusedCount[],
): RefusedRequest[] {
  const room = new Map(
    totals.map(total => {
      const key = keyOf(total)
      return [key, storedPerCode - (total.refused - (counts.get(key)?.refused ?? 0))]
    }),
  )
  return requests.filter(request => {
    const key = keyOf({ ...request, day: dayOf(request.refused_at) })
    const left = room.get(key) ?? 0
    room.set(key, left - 1)
    return left > 0
  })
}

export const forgetOldRefused = (db: Db, now: Date) =>
  forgetRefused(db, new Date(now.getTime() - requestsKeptDays * dayMs), forgottenAtOnce)
