import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Webhook } from '../../../src/core/provider/webhook.ts'

// Receives webhooks and records them unchanged.
export type Received = { url: string; status: number; webhooks: Webhook[]; stop(): Promise<void> }

export async function receiveWebhooks(): Promise<Received> {
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const headers = incoming.headers as Webhook['headers']
      const address = incoming.socket.remoteAddress ?? ''
      received.webhooks.push({ path: incoming.url ?? '', headers, body: Buffer.concat(chunks), address })
      outgoing.writeHead(received.status).end()
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const received: Received = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callbacks`,
    status: 200,
    webhooks: [],
    async stop() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
  return received
}
