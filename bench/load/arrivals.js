// Arrivals as the parent sees them.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { cpuMs } from '../contenders/usage.js'

export function startArrivals() {
  const child = fork(fileURLToPath(new URL('./arrivalsProcess.js', import.meta.url)))
  return {
    cpuMs: () => cpuMs(child.pid),
    // As long as the work goes on.
    async during(job, work) {
      child.send(job)
      try {
        await work()
      } finally {
        child.send('stop')
      }
      return (await once(child, 'message'))[0]
    },
    stop: () => child.kill(),
  }
}
