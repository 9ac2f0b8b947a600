import { once } from 'node:events'
import { createServer } from 'node:net'

// A node that is ready, reads each request and cuts the connection, as a killed node does, or answers 503. Or it is not ready.
export async function startFaultyNode() {
  const requests: string[] = []
  const node = {
    requests,
    fault: 'cut' as 'cut' | 'busy' | 'unready',
    address: '',
    lastPath: () => requests.at(-1)?.split(' ')[1],
    stop: () => void server.close(),
  }
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.on('data', data => {
      const text = data.toString('latin1')
      if (text.startsWith('GET /readyz ') && node.fault !== 'unready')
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
      else if (text.startsWith('GET /readyz ')) socket.destroy()
      else {
        requests.push(text)
        if (node.fault === 'busy')
          socket.end('HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 4\r\n\r\nbusy')
        else socket.destroy()
      }
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  node.address = `127.0.0.1:${(server.address() as { port: number }).port}`
  return node
}
