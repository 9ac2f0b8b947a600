// A process that is asked questions, as the parent sees it.
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { cpuMs } from '../contenders/usage.js'

export function startChild(file) {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), { serialization: 'advanced' })
  const waiting = new Map()
  let last = 0
  child.on('message', (/** @type {any} */ { number, answer }) => {
    waiting.get(number)(answer)
    waiting.delete(number)
  })
  return {
    /** @type {(what: string, given?: unknown) => Promise<any>} */
    ask: (what, given) =>
      new Promise(resolve => {
        waiting.set(++last, resolve)
        child.send({ number: last, what, given })
      }),
    cpuMs: () => cpuMs(child.pid),
    stop: () => child.kill(),
  }
}
