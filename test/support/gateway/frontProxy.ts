import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

// What a proxy in front of the gateway does with X-Forwarded-For, and instead of passing requests on.
export type FrontProxy = {
  url: string
  target: string // of the gateway
  forwarded: 'replaced' | 'added' | 'passed' | 'removed'
  answer?: (outgoing: ServerResponse) => void
  stop(): Promise<void>
}

export async function startFrontProxy(): Promise<FrontProxy> {
  const server = createServer((incoming, outgoing) => {
    if (proxy.answer) return proxy.answer(outgoing)
    const passed = request(
      `${proxy.target}${incoming.url}`,
      { method: incoming.method, headers: headersOf(incoming) },
      answer => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      },
    )
    passed.on('error', () => outgoing.writeHead(502).end())
    incoming.pipe(passed)
  })
  function headersOf({ headers, socket }: IncomingMessage) {
    const { 'x-forwarded-for': given, ...others } = headers
    const client = socket.remoteAddress ?? ''
    if (proxy.forwarded === 'removed') return others
    const values = {
      replaced: client,
      added: given === undefined ? client : `${String(given)}, ${client}`,
      passed: String(given ?? ''),
    }
    return { ...others, 'x-forwarded-for': values[proxy.forwarded] }
  }
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const proxy: FrontProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target: '',
    forwarded: 'replaced',
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}
