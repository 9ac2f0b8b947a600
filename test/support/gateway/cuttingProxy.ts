import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

type Cut = 'pass' | 'before the request' | 'after the request' | 'silent'

// A proxy on real sockets. `cuts` has what happens to each connection, in order; later ones pass. After `silent` the request
// reaches the gateway and its answer is held back.
export async function openCuttingProxy(target: string, cuts: Cut[] = []) {
  const sockets = new Set<Socket>()
  const bodies: string[] = []
  const proxy = { target, url: '', bodies, close }
  const server = createServer(client => {
    const cut = cuts.shift() ?? 'pass'
    sockets.add(client)
    client.on('error', () => {})
    if (cut === 'before the request') {
      client.resetAndDestroy()
      return
    }
    const { port, hostname } = new URL(proxy.target)
    const upstream = connect({ port: Number(port), host: hostname })
    sockets.add(upstream)
    upstream.on('error', () => client.destroy())
    client.on('data', part => {
      bodies.push(String(part).split('\r\n\r\n').at(-1) ?? '')
      upstream.write(part)
    })
    upstream.on('data', part => {
      if (cut === 'after the request') client.resetAndDestroy()
      else if (cut === 'pass') client.write(part)
    })
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  function close() {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  onTestFinished(close)
  return proxy
}
