import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

// What happens to a request: `lost`: the gateway answers, and the connection breaks; `hang`: no answer; or another answer.
export type Fault = 'lost' | 'hang' | { http: number; headers?: Record<string, string>; body?: string }

// A proxy in front of a gateway that applies one fault to each request, and then passes requests on.
export async function openFaultyGateway(url: string) {
  const bodies: string[] = []
  let faults: Fault[] = []
  const server = createServer((incoming, outgoing) => {
    void incoming.toArray().then(async parts => {
      const body = Buffer.concat(parts).toString()
      bodies.push(body)
      await answer(outgoing, faults.shift(), () =>
        fetch(url + incoming.url, {
          method: incoming.method ?? 'GET',
          headers: { 'content-type': 'application/json' },
          ...(body && { body }),
        }),
      )
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    // Returns the proxy without what it recorded.
    begin(...next: Fault[]) {
      faults = next
      bodies.length = 0
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function answer(outgoing: ServerResponse, fault: Fault | undefined, pass: () => Promise<Response>) {
  if (fault === 'hang') return
  if (fault && fault !== 'lost') {
    outgoing.writeHead(fault.http, fault.headers).end(fault.body)
    return
  }
  const passed = await pass()
  const text = await passed.text()
  if (fault === 'lost') outgoing.destroy()
  else outgoing.writeHead(passed.status, { 'content-type': 'application/json' }).end(text)
}

export type FaultyGateway = Awaited<ReturnType<typeof openFaultyGateway>>
