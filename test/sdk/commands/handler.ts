import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export type Listener = (request: IncomingMessage, response: ServerResponse) => unknown

// Registers what has to be done at the end of the test, or of the file.
export type AtEnd = (clean: () => void) => void

// Serves until the test ends, and returns the address.
export async function serve(listener: Listener, atEnd: AtEnd = onTestFinished): Promise<string> {
  const server = createServer((request, response) => void listener(request, response))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  atEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

// A port that nothing listens on.
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}

export const bodyOf = async (request: IncomingMessage) =>
  Buffer.concat((await request.toArray()) as Buffer[]).toString()
