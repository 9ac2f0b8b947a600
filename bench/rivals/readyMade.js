// (d) as the parent sees it: the bare server that sends the bytes of a page that was fetched before.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { cpuMs } from '../contenders/usage.js'

// Looks like a gateway to the load generator. Node writes its default headers.
export async function startReadyMade({ headers, sent }, merchant) {
  const child = fork(fileURLToPath(new URL('./readyMadeProcess.js', import.meta.url)))
  const own = /^(date|connection|keep-alive|transfer-encoding|content-length)$/i
  const kept = headers.filter(([name]) => !own.test(name))
  child.send({
    headers: { ...Object.fromEntries(kept), 'content-length': sent.length },
    body: sent.toString('base64'),
  })
  const [{ port }] = await once(child, 'message')
  return { port, merchant, cpuMs: () => cpuMs(child.pid), stop: () => child.kill() }
}
