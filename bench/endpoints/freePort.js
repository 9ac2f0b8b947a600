import { once } from 'node:events'
import { createServer } from 'node:net'
import { listen } from './listen.js'

// A port at which nothing listens.
export async function freePort() {
  const server = createServer()
  const port = await listen(server)
  server.close()
  await once(server, 'close')
  return port
}
