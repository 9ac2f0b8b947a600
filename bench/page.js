// The first view of a checkout page: what it weighs, and the bare server that sends the same bytes.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { filesOf } from './form.js'
import { openLane, readAnswer } from './lane.js'
import { cpuMs } from './processes.js'
import { pageRequest, storedPage } from './rows.js'

const maxFiles = 20

// The page itself and every file that it names, as they go over the wire.
export async function weigh({ port, merchant }) {
  const lane = await openLane(port)
  try {
    const fetched = async address => readAnswer(await lane.ask(pageRequest(address)))
    const page = await fetched(storedPage(merchant, 1))
    const files = [{ name: 'HTML', ...weightOf(page) }]
    for (const address of filesOf(page.text).slice(0, maxFiles))
      files.push({ name: address.split('?')[0], ...weightOf(await fetched(address)) })
    return { page, files }
  } finally {
    lane.close()
  }
}

const weightOf = ({ bodyBytes, headBytes }) => ({ bodyBytes, headBytes })

// Looks like a gateway to whoever loads it. What Node writes by itself is left to Node.
export async function startReady({ headers, sent }, merchant) {
  const child = fork(fileURLToPath(new URL('./ready.js', import.meta.url)))
  const own = /^(date|connection|keep-alive|transfer-encoding|content-length)$/i
  const kept = headers.filter(([name]) => !own.test(name))
  child.send({
    headers: { ...Object.fromEntries(kept), 'content-length': sent.length },
    body: sent.toString('base64'),
  })
  const [{ port }] = await once(child, 'message')
  return { port, merchant, cpuMs: () => cpuMs(child.pid), stop: () => child.kill() }
}
