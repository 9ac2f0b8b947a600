// A rival at work, in a process of its own.
import { senders } from './rivalSend.js'

process.once('message', job => void begin(job))

async function begin({ rival, url, options, client }) {
  const { work } = await import(rival)
  const stop = await work(url, options, senders[client])
  process.once('message', () => void stop().then(() => process.exit()))
  process.send('at work')
}
process.on('disconnect', () => process.exit()) // the parent is gone
