// A rival as the parent sees it.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { cpuMs } from '../contenders/usage.js'

const nursery = '--max-semi-space-size=32' // as Tollgate starts itself

export async function startRival(rival, url, options, { client, isLogged }) {
  const child = fork(fileURLToPath(new URL('./rivalProcess.js', import.meta.url)), { execArgv: [nursery] })
  const ended = once(child, 'exit')
  child.send({ rival, url, options, client, isLogged })
  await Promise.race([
    once(child, 'message'),
    ended.then(([code]) => Promise.reject(new Error(`${rival} ended with ${code}.`))),
  ])
  return {
    cpuMs: () => cpuMs(child.pid),
    stop: async () => {
      child.send('stop')
      await ended
    },
  }
}
