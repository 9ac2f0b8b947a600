// A rival's worker, in a separate process.
import { openLog } from './log.js'
import { senders } from './send.js'

process.once('message', (/** @type {any} */ job) => void begin(job))

async function begin({ rival, url, options, client, isLogged }) {
  const { work } = await import(rival)
  const log = isLogged ? openLog(url) : undefined
  const stop = await work(url, options, job => deliver(job, senders[client], log))
  process.once('message', () => void stop().then(() => process.exit()))
  process.send?.('at work')
}
process.on('disconnect', () => process.exit()) // the parent is gone

async function deliver(job, send, log) {
  const started_at = new Date()
  const { status, answer } = await send(job)
  if (status !== 200) throw new Error(`The receiver answered ${status}.`)
  const ms = Date.now() - started_at.getTime()
  await log?.add({ id: job.id, started_at, ms, address: '127.0.0.1', status, answer: Buffer.from(answer) })
}
