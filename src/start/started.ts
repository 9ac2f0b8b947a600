export type Stop = () => Promise<void> | void

export type Started = {
  add(stop: Stop): () => Promise<void> // gives back the stop that counts: however often it is called, it happens once
  stop(): Promise<void>
}

// What was started, so that all of it is stopped: in reverse order, each even if the stop of another fails. The first
// failure is told when nothing is left.
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
