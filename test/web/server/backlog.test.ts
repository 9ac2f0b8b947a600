import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { listen } from '../../../src/web/server/server.ts'

const clients = 800 // more than the 511 that Node lets wait unless it is told otherwise
const mostInKernel = '/proc/sys/net/core/somaxconn'
const synSent = '02'

// The states of the connections to a port, as Linux numbers them.
function statesTo(port: number): string[] {
  const remote = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const lines = readFileSync('/proc/net/tcp', 'latin1')
    .split('\n')
    .map(line => line.trim().split(/\s+/))
  return lines.filter(fields => fields[2]?.endsWith(remote)).map(fields => fields[3] as string)
}

test('800 connections that arrive before the first is accepted are all established', async context => {
  if (!existsSync(mostInKernel) || Number(readFileSync(mostInKernel, 'latin1')) < clients)
    context.skip('SKIPPED: this system keeps fewer connections waiting')
  const server = await listen('127.0.0.1', 0)
  const sockets = Array.from({ length: clients }, () => connect(server.port, '127.0.0.1'))
  // Node connects in the next tick. The server accepts no connection before this tick is over.
  const states = await new Promise<string[]>(resolve =>
    process.nextTick(() => process.nextTick(() => resolve(statesTo(server.port)))),
  )
  const ended = sockets.map(socket =>
    once(
      socket.on('error', () => {}),
      'close',
    ),
  )
  for (const socket of sockets) socket.destroy()
  await Promise.all(ended)
  await server.stop()
  expect(states.length).toBe(clients)
  expect(states.filter(state => state === synSent).length).toBe(0)
})
