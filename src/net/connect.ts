import { once } from 'node:events'
import { connect as connectTcp, isIP, isIPv6, type OnReadOpts, type Socket } from 'node:net'
import { connect as connectTls, createSecureContext, rootCertificates, type SecureContext } from 'node:tls'
import { type ProxyServer, readProxy } from '../core/networkSettings.ts'
import { checkAddress, guardedAddresses } from './addressGuard.ts'
import type { Endpoint, Guard } from './endpoint.ts'
import { errorCode, NetworkError, sentenceOf, toNetworkError } from './networkError.ts'

const guardedConnectMs = 3000 // with the handshakes of the proxy and of TLS, over all addresses of a name
const maxAddresses = 6 // tried of one name; all of them are checked
const maxProxyHeaderBytes = 16 * 1024

export type ConnectOptions = {
  sourceAddress?: string // local address to send from
  proxy?: string // http://user:password@host:port
  nameServers?: readonly string[] // '127.0.0.1:5353'; otherwise the system's
  ca?: string // one more certificate to trust, PEM
}
// `listen` is called once. The bytes are valid only during the call of `receive`.
export type OpenSocket = { socket: Socket; address: string; listen(receive: Receive): void }
type Receive = (bytes: Buffer) => void
export type Connect = (endpoint: Endpoint, signal: AbortSignal) => Promise<OpenSocket>

type Setup = {
  sourceAddress?: string
  nameServers?: readonly string[]
  proxy: ProxyServer | undefined
  trust: SecureContext | undefined
}

// Opens connections. An endpoint with a guard is reached at an address that was checked. The name of an endpoint of the
// operator is resolved by the system, or by the proxy.
export function createConnect({ sourceAddress, nameServers, proxy, ca }: ConnectOptions): Connect {
  if (sourceAddress !== undefined && isIP(sourceAddress) === 0)
    throw new Error('the address to send from is not an IP address')
  const setup: Setup = {
    sourceAddress,
    nameServers,
    proxy: proxy === undefined ? undefined : mustBeProxy(proxy),
    trust: ca === undefined ? undefined : createSecureContext({ ca: [...rootCertificates, ca] }),
  }
  return (endpoint, signal) =>
    endpoint.guard
      ? connectGuarded(setup, { ...endpoint, guard: endpoint.guard }, signal)
      : connectTo(setup, endpoint, endpoint.host, undefined, signal)
}

function mustBeProxy(text: string): ProxyServer {
  const proxy = readProxy(text)
  if (!proxy) throw new Error('the proxy must be a URL such as http://proxy:3128')
  return proxy
}

// Tries one address after the other; each gets its share of the time that is left.
async function connectGuarded(
  setup: Setup,
  endpoint: Endpoint & { guard: Guard },
  signal: AbortSignal,
): Promise<OpenSocket> {
  const addresses = reachable(setup, await guardedAddresses(endpoint, setup.nameServers))
  const end = performance.now() + guardedConnectMs
  let failed = new NetworkError(
    'no_connection',
    'it has no address in the address family of the source address',
  )
  for (const [index, address] of addresses.entries()) {
    const ms = (end - performance.now()) / (addresses.length - index)
    try {
      return await connectTo(setup, endpoint, address, Math.max(ms, 1), signal)
    } catch (error) {
      failed = toNetworkError(error as Error, false)
      if (failed.failure === 'tls' || failed.failure === 'forbidden_address' || signal.aborted) break
    }
  }
  throw failed
}

// An IPv4 source address reaches only IPv4; behind a proxy the proxy's own address counts.
function reachable({ sourceAddress, proxy }: Setup, addresses: string[]) {
  const fits = (address: string) => !sourceAddress || proxy || isIP(address) === isIP(sourceAddress)
  return addresses.filter(fits).slice(0, maxAddresses)
}

// TCP, then the tunnel through the proxy, then TLS. Nothing of the request is sent before all of them are done.
async function connectTo(
  setup: Setup,
  endpoint: Endpoint,
  host: string,
  ms: number | undefined,
  signal: AbortSignal,
): Promise<OpenSocket> {
  signal.throwIfAborted()
  const reader = endpoint.secure || setup.proxy ? undefined : sharedReader()
  const tcp = openTcp(setup, { host, port: endpoint.port }, reader?.onread)
  let socket = tcp
  const stop = (message: string) => socket.destroy(new NetworkError('timeout', message))
  const timer = ms === undefined ? undefined : setTimeout(stop, ms, 'no connection in time')
  const giveUp = () => stop('cancelled')
  signal.addEventListener('abort', giveUp)
  try {
    if (setup.proxy) await openTunnel(tcp, setup.proxy, host, endpoint.port)
    else await once(tcp, 'connect')
    const address = setup.proxy ? host : peerAddress(tcp)
    if (endpoint.guard && !setup.proxy) checkAddress({ ...endpoint, guard: endpoint.guard }, address)
    if (endpoint.secure) {
      socket = startTls(setup, endpoint, tcp)
      await once(socket, 'secureConnect').catch(asTlsError)
    }
    return {
      socket,
      address: endpoint.guard ? host : address,
      listen: reader?.listen ?? (receive => void socket.on('data', receive)),
    }
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', giveUp)
  }
}

function peerAddress({ remoteAddress }: Socket): string {
  if (remoteAddress === undefined) throw new NetworkError('no_connection', 'the connection was reset')
  return remoteAddress
}

function openTcp({ proxy, sourceAddress }: Setup, to: { host: string; port: number }, onread?: OnReadOpts) {
  const { host, port } = proxy ?? to
  const from = sourceAddress ? { localAddress: sourceAddress, family: isIP(sourceAddress) } : {}
  const socket = connectTcp({ host, port, ...from, noDelay: true, onread })
  return socket.on('error', () => {}) // `once` rejects with it; without a listener it would end the process
}

// All plain connections read into one buffer, which is consumed before the next read: a new buffer for each read would
// cost a fifth of a request. TLS and tunnels need a stream.
const shared = Buffer.allocUnsafe(64 * 1024)

function sharedReader() {
  const early: Buffer[] = []
  let receive: Receive = bytes => void early.push(Buffer.from(bytes))
  const onread: OnReadOpts = {
    buffer: shared,
    callback(length, bytes) {
      receive((bytes as Buffer).subarray(0, length))
      return true
    },
  }
  return {
    onread,
    listen(listener: Receive) {
      receive = listener
      for (const bytes of early) listener(bytes)
    },
  }
}

// The tunnel of a guarded endpoint leads to the checked address. The proxy never receives the name: it would resolve the
// name again, and might find another address than the checked one.
async function openTunnel(socket: Socket, { authorization }: ProxyServer, host: string, port: number) {
  try {
    await once(socket, 'connect')
    const to = `${isIPv6(host) ? `[${host}]` : host}:${port}`
    const credentials = authorization ? `proxy-authorization: ${authorization}\r\n` : ''
    socket.write(`CONNECT ${to} HTTP/1.1\r\nhost: ${to}\r\n${credentials}\r\n`)
    const [, status] = /^HTTP\/1\.[01] (\d{3})/.exec(await readProxyHead(socket)) ?? []
    if (!status) throw new NetworkError('no_connection', 'the proxy did not answer with HTTP')
    if (!status.startsWith('2')) throw new NetworkError('no_connection', `the proxy answered HTTP ${status}`)
  } catch (error) {
    if (error instanceof NetworkError) throw error
    const message = `the proxy: ${sentenceOf(error as Error)}`
    throw new NetworkError('no_connection', message, errorCode(error as Error))
  }
}

// A refusal may have a body, which is not read. The server behind an open tunnel waits for our first byte, so nothing may
// follow the headers of a success.
function readProxyHead(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let head = ''
    const stop = (finish: () => void) => {
      socket.off('readable', read).off('end', closed).off('close', closed)
      finish()
    }
    const closed = () =>
      stop(() =>
        reject(socket.errored ?? new NetworkError('no_connection', 'the proxy: the connection was closed')),
      )
    const read = () => {
      head += (socket.read() as Buffer | null)?.toString('latin1') ?? ''
      const isRefused = /^HTTP\/1\.[01] [3-5]/.test(head) && head.includes('\r\n\r\n')
      if (isRefused || head.endsWith('\r\n\r\n')) return stop(() => resolve(head))
      if (head.length > maxProxyHeaderBytes || head.includes('\r\n\r\n'))
        stop(() => reject(new NetworkError('no_connection', 'the proxy sent more than its headers')))
    }
    socket.on('readable', read).on('end', closed).on('close', closed)
  })
}

// The certificate must be for the host of the URL, whatever address the connection has. For an address that a merchant
// chose, the environment (NODE_TLS_REJECT_UNAUTHORIZED) cannot switch the check off.
function startTls({ trust }: Setup, { host, guard }: Endpoint, tcp: Socket): Socket {
  const servername = isIP(host) === 0 ? host : ''
  return connectTls({
    socket: tcp,
    host,
    servername,
    secureContext: trust,
    ALPNProtocols: ['http/1.1'],
    ...(guard && { rejectUnauthorized: true }),
  }).on('error', () => {})
}

function asTlsError(error: Error): never {
  throw error instanceof NetworkError ? error : new NetworkError('tls', sentenceOf(error), errorCode(error))
}
