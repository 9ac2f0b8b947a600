// A receiver as the parent sees it.
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { cpuMs } from '../contenders/usage.js'

export function startReceiver() {
  const child = fork(fileURLToPath(new URL('./receiverProcess.js', import.meta.url)), {
    serialization: 'advanced',
  })
  const waiting = new Map()
  let last = 0
  child.on('message', ({ number, answer }) => {
    waiting.get(number)(answer)
    waiting.delete(number)
  })
  const ask = (what, given) =>
    new Promise(resolve => {
      waiting.set(++last, resolve)
      child.send({ number: last, what, given })
    })
  return {
    open: kinds => ask('open', kinds), // gives back their ports
    count: () => ask('count'),
    arrivals: async () => new Map(await ask('arrivals')), // when each first came, by webhook-id
    forget: () => ask('forget'),
    cpuMs: () => cpuMs(child.pid),
    stop: () => child.kill(),
  }
}
