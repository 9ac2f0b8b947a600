// A receiver as the parent sees it.
import { startChild } from './child.js'

export function startReceiver() {
  const { ask, cpuMs, stop } = startChild('./receiverProcess.js')
  return {
    open: kinds => ask('open', kinds), // returns their ports
    count: () => ask('count'),
    arrivals: async () => new Map(await ask('arrivals')), // when each first came, by webhook-id
    forget: () => ask('forget'),
    cpuMs,
    stop,
  }
}
