// Counts who is inside, for those who wait until nobody is.
export function countInFlight() {
  let inside = 0
  let waiting: (() => void)[] = []
  return {
    enter: () => void inside++,
    leave() {
      if (--inside > 0) return
      for (const go of waiting) go()
      waiting = []
    },
    gone: () => new Promise<void>(resolve => (inside === 0 ? resolve() : void waiting.push(resolve))),
  }
}
