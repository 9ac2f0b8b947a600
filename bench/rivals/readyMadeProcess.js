// (d): a bare Node server in a process of its own. It sends one ready-made answer, whatever is asked for.
import { createServer } from 'node:http'

process.once('message', ({ headers, body }) => {
  const bytes = Buffer.from(body, 'base64')
  const server = createServer((_, outgoing) => outgoing.writeHead(200, headers).end(bytes))
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
})
process.on('disconnect', () => process.exit()) // the parent is gone
