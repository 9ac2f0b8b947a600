// (d): a bare Node server in a separate process. It sends one ready-made answer, whatever the request.
import { createServer } from 'node:http'
import { listen } from '../endpoints/listen.js'

process.once('message', (/** @type {any} */ job) => void begin(job))

async function begin({ headers, body }) {
  const bytes = Buffer.from(body, 'base64')
  const server = createServer((_, outgoing) => outgoing.writeHead(200, headers).end(bytes))
  process.send?.({ port: await listen(server) })
}
process.on('disconnect', () => process.exit()) // the parent is gone
