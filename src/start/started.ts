type Stop = () => Promise<void> | void

export type Started = {
  add(stop: Stop): () => Promise<void> // returns a function that stops it once, however often it is called
  stop(): Promise<void>
}

// A stack of what has to be stopped. Everything is stopped in reverse order, even if one of the stops fails; then the
// first failure is thrown.
export function rememberStarted(): Started {
  const stops: (() => Promise<void>)[] = []
  return {
    add(stop) {
      let stopping: Promise<void> | undefined
      const once = () => (stopping ??= Promise.resolve().then(stop))
      stops.push(once)
      return once
    },
    async stop() {
      const failures: unknown[] = []
      for (const stop of stops.toReversed()) await stop().catch(error => failures.push(error))
      if (failures.length > 0) throw failures[0]
    },
  }
}
