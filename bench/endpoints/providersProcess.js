// Two simulated providers, in a separate process: the healthy one replies at once that an order is paid, the slow one takes
// its time to say that it does not know yet.
import { createServer } from 'node:http'
import { listen } from './listen.js'

const answers = {
  well: { delayMs: 0, body: JSON.stringify({ state: 'paid', amount: 2550, currency: 'GHS' }) },
  sick: { delayMs: 5000, body: JSON.stringify({ state: 'pending' }) },
}

const server = createServer((incoming, outgoing) => {
  const name = String(incoming.url).split('/')[1]
  process.send?.({ asked: name })
  const { delayMs, body } = answers[name]
  setTimeout(() => outgoing.setHeader('content-type', 'application/json').end(body), delayMs)
})

process.on('disconnect', () => process.exit()) // the parent is gone
process.send?.({ port: await listen(server) })
