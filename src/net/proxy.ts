import { isIPv6, type Socket } from 'node:net'
import { Trouble } from './trouble.ts'

const maxHeaderBytes = 16 * 1024

export type Proxy = { host: string; port: number; authorization: string | undefined }

// The operator's own words, so a mistake in them is thrown at the start.
export function readProxy(text: string): Proxy {
  const { protocol, hostname, port, username, password } = new URL(text)
  if (protocol !== 'http:') throw new Error('a proxy for notifications is an http address')
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port) || 80,
    authorization: username ? `Basic ${Buffer.from(pair).toString('base64')}` : undefined,
  }
}

// Opens a tunnel to the vetted address. The proxy never learns the name: it would look it up once more, and might
// find another address than the one that we have vetted.
export async function tunnel(socket: Socket, { authorization }: Proxy, address: string, port: number) {
  const to = `${isIPv6(address) ? `[${address}]` : address}:${port}`
  const credentials = authorization ? `proxy-authorization: ${authorization}\r\n` : ''
  socket.write(`CONNECT ${to} HTTP/1.1\r\nhost: ${to}\r\n${credentials}\r\n`)
  const head = await readHead(socket)
  const [, status] = /^HTTP\/1\.[01] (\d{3})/.exec(head) ?? []
  if (!status) throw new Trouble('no_connection', 'the proxy did not answer with HTTP')
  if (!status.startsWith('2')) throw new Trouble('no_connection', `the proxy answered ${status}`)
}

// Through a tunnel the other side speaks second, so nothing may follow the headers yet.
function readHead(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let head = ''
    const stop = (finish: () => void) => {
      socket.off('readable', read).off('end', closed).off('close', closed)
      finish()
    }
    const closed = () =>
      stop(() => reject(socket.errored ?? new Trouble('no_connection', 'the proxy closed the connection')))
    const read = () => {
      head += (socket.read() as Buffer | null)?.toString('latin1') ?? ''
      if (head.endsWith('\r\n\r\n')) return stop(() => resolve(head))
      if (head.length > maxHeaderBytes || head.includes('\r\n\r\n'))
        stop(() => reject(new Trouble('no_connection', 'the proxy said more than it should')))
    }
    socket.on('readable', read).on('end', closed).on('close', closed)
  })
}
