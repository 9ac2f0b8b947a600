type Slots = {
  take(maxMs: number): Promise<boolean> // false: no slot became free in time
  release(): void
  close(): void // every later and waiting `take` gets false
}

// A fixed number of slots with a first-in, first-out queue.
export function openSlots(count: number): Slots {
  const queue: ((taken: boolean) => void)[] = []
  let taken = 0
  let closed = false

  function take(maxMs: number): Promise<boolean> {
    if (closed) return Promise.resolve(false)
    if (taken < count) {
      taken++
      return Promise.resolve(true)
    }
    return new Promise(resolve => {
      const settle = (got: boolean) => {
        clearTimeout(timer)
        resolve(got)
      }
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(settle), 1)
        settle(false)
      }, maxMs)
      queue.push(settle)
    })
  }

  return {
    take,
    release() {
      const next = queue.shift()
      if (next) next(true)
      else taken--
    },
    close() {
      closed = true
      for (const settle of queue.splice(0)) settle(false)
    },
  }
}

// Stops waiting, not the work itself; `stop` is called at the timeout to end the work.
export async function withTimeout<T>(
  work: Promise<T>,
  ms: number,
  reason: string,
  stop?: () => void,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      stop?.()
      reject(new Error(reason))
    }, ms)
  })
  try {
    return await Promise.race([work, timeout])
  } finally {
    clearTimeout(timer)
  }
}
