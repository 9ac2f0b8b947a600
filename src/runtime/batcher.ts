import type { Context } from '@opentelemetry/api'
import { Unavailable } from '../core/interface/refusal.ts'
import { callerContext, runFor } from '../core/traces.ts'
import { isUnavailable } from '../store/databaseErrors.ts'

const splitConcurrency = 4 // of a failed batch that is run item by item, so that one slow item does not delay all others

// Group commit: items that are added while a statement is in flight share the next one, so that many callers pay for one
// statement and one commit. There is no timer: an idle batcher runs an item immediately. Each caller gets the result of its
// item. If a batch fails, its items are run one by one, so that a bad item fails alone.
export type Batcher<Item, Answer> = {
  add(item: Item): Promise<Answer>
  depth(): number
}

type BatchOptions<Item, Answer> = {
  run(items: Item[]): Promise<Answer[]> // results in the order of the items
  maxRows: number
  maxInFlight: number
  maxQueued: number
  groupsOf?(item: Item): readonly string[] // an item waits while a batch with one of its groups is in flight
  isHanging?(): boolean // the database does not answer: items are refused immediately
  // If the database was unavailable for a batch, the queue fails with it. With this limit, only items that have waited longer
  // do, because their callers wait no more: one slow statement says nothing about the next, and newer items still have time.
  maxWaitMs?: number
  observe?(rows: number): void
}

type Waiting<Item, Answer> = {
  item: Item
  groups: readonly string[]
  caller: Context | undefined // whose trace gets a span of the shared statement
  addedAt: number
  resolve(answer: Answer): void
  reject(error: unknown): void
}

export function createBatcher<Item, Answer>(options: BatchOptions<Item, Answer>): Batcher<Item, Answer> {
  const queue: Waiting<Item, Answer>[] = []
  const busyGroups = new Set<string>()
  let inFlight = 0
  let scheduled = false

  function add(item: Item): Promise<Answer> {
    if (options.isHanging?.()) return Promise.reject(new Unavailable('the database does not answer'))
    if (queue.length >= options.maxQueued) return Promise.reject(new Unavailable('the queue is full'))
    return new Promise((resolve, reject) => {
      const groups = options.groupsOf?.(item) ?? []
      queue.push({ item, groups, caller: callerContext(), addedAt: performance.now(), resolve, reject })
      schedule()
    })
  }

  // After this turn of the event loop, so that requests that were read in one turn share a batch.
  function schedule() {
    if (scheduled || inFlight >= options.maxInFlight) return
    scheduled = true
    setImmediate(() => {
      scheduled = false
      refuseOld()
      while (inFlight < options.maxInFlight) {
        const batch = takeBatch(queue, busyGroups, options.maxRows)
        if (batch.length === 0) return
        start(batch)
      }
    })
  }

  function refuseOld() {
    const { maxWaitMs = Infinity } = options
    const now = performance.now()
    const isOld = ({ addedAt }: Waiting<Item, Answer>) => now - addedAt > maxWaitMs
    while (queue[0] && isOld(queue[0])) queue.shift()?.reject(new Unavailable('the queue was too slow'))
  }

  function start(batch: Waiting<Item, Answer>[]) {
    const groups = batch.flatMap(waiting => waiting.groups)
    for (const group of groups) busyGroups.add(group)
    inFlight++
    void runBatch(batch).finally(() => {
      inFlight--
      for (const group of groups) busyGroups.delete(group)
      if (queue.length > 0) schedule()
    })
  }

  async function runBatch(batch: Waiting<Item, Answer>[]) {
    options.observe?.(batch.length)
    try {
      const items = batch.map(waiting => waiting.item)
      const callers = batch.map(waiting => waiting.caller)
      const answers = await runFor(callers, () => options.run(items))
      batch.forEach((waiting, at) => waiting.resolve(answers[at] as Answer))
    } catch (error) {
      // Each caller gets a separate error object, because the error is answered in the format of the caller's merchant.
      if (isUnavailable(error)) {
        const isQueueLost = options.maxWaitMs === undefined || options.isHanging?.()
        const failed = isQueueLost ? [...batch, ...queue.splice(0)] : batch
        for (const waiting of failed) waiting.reject(new Unavailable(error.cause))
      } else if (batch.length === 1) for (const waiting of batch) waiting.reject(error)
      else await runOneByOne(batch)
    }
  }

  async function runOneByOne(batch: Waiting<Item, Answer>[]) {
    const rest = batch.values()
    const work = async () => {
      for (const waiting of rest) await runBatch([waiting])
    }
    await Promise.all(Array.from({ length: splitConcurrency }, work))
  }

  return { add, depth: () => queue.length }
}

// Takes the items that have waited longest and whose groups are free out of the queue.
function takeBatch<Item, Answer>(
  queue: Waiting<Item, Answer>[],
  busyGroups: ReadonlySet<string>,
  maxRows: number,
) {
  if (busyGroups.size === 0) return queue.splice(0, maxRows)
  const batch: Waiting<Item, Answer>[] = []
  const rest = queue.splice(0).filter(waiting => {
    const isTaken = batch.length < maxRows && !waiting.groups.some(group => busyGroups.has(group))
    if (isTaken) batch.push(waiting)
    return !isTaken
  })
  queue.push(...rest)
  return batch
}
