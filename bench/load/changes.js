// The process that makes payments change, as the parent sees it.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { nodeEnv } from '../contenders/gateway.js'
import { cpuMs } from '../contenders/usage.js'

// `by`: what it carries what it commits by, as a gateway does (own); or somebody else has to, who hears of it (node) or
// does not (looking).
export function startChanging({ url, version }, by) {
  const child = fork(fileURLToPath(new URL('./changesProcess.js', import.meta.url)), {
    serialization: 'advanced',
  })
  const ended = once(child, 'exit')
  return {
    cpuMs: () => cpuMs(child.pid),
    // Returns the times of each change by the id of its notification, in order.
    async run(changes) {
      const { folder } = version
      child.send({ folder, by, url, env: nodeEnv(url), changes })
      const [{ times, failed }] = await once(child, 'message')
      if (failed) throw new Error(failed)
      return times
    },
    async stop() {
      if (child.exitCode !== null) return
      child.send('stop')
      await ended
    },
  }
}

// So many changes a second for so long, evenly, by one merchant after the other.
export function evenly(perSecond, lengthMs, merchants, paymentAt) {
  return Array.from({ length: Math.floor((perSecond * lengthMs) / 1000) }, (_, n) => ({
    ...paymentAt(merchants[n % merchants.length], Math.floor(n / merchants.length)),
    atMs: (n * 1000) / perSecond,
  }))
}
