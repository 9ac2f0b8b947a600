export type Slots = {
  take(maxMs: number): Promise<boolean> // false: none became free in time
  give(): void
  close(): void // nobody gets one any more
}

// A few places and a queue before them: first come, first served.
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
    give() {
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
