import { once } from 'node:events'

const backlog = 1024 // connections that wait to be accepted

// Listens on a free port of this machine, and returns the port.
/** @type {(server: import('node:net').Server) => Promise<number>} */
export async function listen(server) {
  await once(server.listen(0, '127.0.0.1', backlog), 'listening')
  return /** @type {import('node:net').AddressInfo} */ (server.address()).port
}
