import { Unavailable } from '../../core/interface/refusal.ts'

// The connections that one verb may have at once. Whatever it waits for, the others find some left.
export type ConnectionQuota = { enter(until: number): Promise<void>; leave(): void }

type Waiting = { go(): void; giveUp: NodeJS.Timeout }

export function createConnectionQuota(most: number): ConnectionQuota {
  let inside = 0
  const queue = new Set<Waiting>()

  // Up to a moment of the monotonic clock.
  function enter(until: number): Promise<void> {
    if (inside < most) {
      inside++
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        go: resolve,
        giveUp: setTimeout(() => {
          queue.delete(waiting)
          reject(new Unavailable('too many of the same kind are at work'))
        }, until - performance.now()),
      }
      queue.add(waiting)
    })
  }

  // Whoever waits longest takes the place.
  function leave() {
    const [next] = queue
    if (next) {
      queue.delete(next)
      clearTimeout(next.giveUp)
      next.go()
    } else inside--
  }

  return { enter, leave }
}
