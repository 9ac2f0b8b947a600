import { once } from 'node:events'
import { createServer } from 'node:net'

// At which nobody listens.
export async function freePort() {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}
