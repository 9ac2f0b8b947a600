import { Locked, Unavailable } from '../core/interface/refusal.ts'

const apartAtOnce = 4 // of a batch that is taken apart, so that one that has to wait does not hold up the others

// Requests that arrive while a statement is in flight are put into the next one: one statement and one
// commit for many callers, no timer, no waiting when idle. Each caller gets its own answer, and one bad
// item never fails its neighbours.
export type Batcher<Item, Answer> = {
  add(item: Item): Promise<Answer>
  depth(): number
}

export type BatchOptions<Item, Answer> = {
  run(items: Item[]): Promise<Answer[]> // answers in the order of the items
  maxRows: number
  maxInFlight: number
  maxQueued: number
  groupsOf?(item: Item): readonly string[] // an item waits while a batch with one of its groups is in flight
  isHanging?(): boolean // the database: then nobody is let in
  observe?(rows: number): void
}

type Waiting<Item, Answer> = {
  item: Item
  groups: readonly string[]
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
      queue.push({ item, groups: options.groupsOf?.(item) ?? [], resolve, reject })
      schedule()
    })
  }

  // After this turn of the event loop, so that requests read from the sockets together go together.
  function schedule() {
    if (scheduled || inFlight >= options.maxInFlight) return
    scheduled = true
    setImmediate(() => {
      scheduled = false
      while (inFlight < options.maxInFlight) {
        const batch = nextBatch()
        if (batch.length === 0) return
        const groups = batch.flatMap(waiting => waiting.groups)
        for (const group of groups) busyGroups.add(group)
        inFlight++
        void runBatch(batch).finally(() => {
          inFlight--
          for (const group of groups) busyGroups.delete(group)
          if (queue.length > 0) schedule()
        })
      }
    })
  }

  // The items that have waited longest and whose groups are free.
  function nextBatch() {
    if (busyGroups.size === 0) return queue.splice(0, options.maxRows)
    const batch: Waiting<Item, Answer>[] = []
    const rest = queue.splice(0).filter(waiting => {
      const isTaken = batch.length < options.maxRows && !waiting.groups.some(group => busyGroups.has(group))
      if (isTaken) batch.push(waiting)
      return !isTaken
    })
    queue.push(...rest)
    return batch
  }

  async function runBatch(batch: Waiting<Item, Answer>[]) {
    options.observe?.(batch.length)
    try {
      const answers = await options.run(batch.map(waiting => waiting.item))
      batch.forEach((waiting, at) => waiting.resolve(answers[at] as Answer))
    } catch (error) {
      // Out of reach is nobody's fault: single tries would be in vain, and so would the wait of those in the
      // queue. Each gets an error of its own, because it is answered in the form of its merchant.
      if (error instanceof Unavailable && !(error instanceof Locked))
        for (const waiting of [...batch, ...queue.splice(0)]) waiting.reject(new Unavailable(error.cause))
      else if (batch.length === 1) for (const waiting of batch) waiting.reject(error)
      else await takeApart(batch)
    }
  }

  async function takeApart(batch: Waiting<Item, Answer>[]) {
    const each = batch.values()
    const inTurn = async () => {
      for (const waiting of each) await runBatch([waiting])
    }
    await Promise.all(Array.from({ length: apartAtOnce }, inTurn))
  }

  return { add, depth: () => queue.length }
}
