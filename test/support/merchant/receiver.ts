import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Received = {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
  at: number
  id: string
  attempt: number
  sequence: number
}

export type Answering = (request: Received, response: ServerResponse, incoming: IncomingMessage) => void

const acknowledge: Answering = (_request, response) => void response.end('ok')

// A merchant's endpoint: records every request, and answers as the test says.
export async function openReceiver(answer: Answering = acknowledge) {
  const received: Received[] = []
  let answering = answer
  const server = createServer((incoming, response) => {
    const parts: Buffer[] = []
    incoming.on('data', (part: Buffer) => void parts.push(part))
    incoming.on('end', () => {
      const { method = '', url: path = '', headers } = incoming
      const one: Received = {
        method,
        path,
        headers,
        body: Buffer.concat(parts).toString(),
        at: Date.now(),
        id: String(headers['webhook-id'] ?? ''),
        attempt: Number(headers['webhook-attempt']),
        sequence: Number(headers['webhook-sequence']),
      }
      received.push(one)
      answering(one, response, incoming)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    answerWith: (next: Answering) => void (answering = next),
    of: (tx_reference: string) => received.filter(({ body }) => body.includes(tx_reference)),
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

export type Receiver = Awaited<ReturnType<typeof openReceiver>>
