import { once } from 'node:events'
import { connect as connectTcp, isIP, type OnReadOpts, type Socket } from 'node:net'
import { connect as connectTls, createSecureContext, rootCertificates, type SecureContext } from 'node:tls'
import { type Proxy, readProxy, tunnel } from './proxy.ts'
import { vet, vettedAddresses } from './resolve.ts'
import type { Target } from './target.ts'
import { Trouble, troubleOf, words } from './trouble.ts'

const connectMs = 3000 // with the handshakes of the proxy and of TLS, over all addresses of a name
const maxAddresses = 6 // tried of one name; all of them are vetted

export type ConnectOptions = {
  sourceAddress?: string
  proxy?: string
  nameServers?: readonly string[]
  ca?: string
}
// `listen` is called once, by whoever hears the answers. The bytes are theirs for the length of the call.
export type OpenSocket = { socket: Socket; address: string; listen(hear: Hear): void }
type Hear = (bytes: Buffer) => void
export type Connect = (target: Target, signal: AbortSignal) => Promise<OpenSocket>

type Setup = {
  sourceAddress?: string
  nameServers?: readonly string[]
  proxy: Proxy | undefined
  trust: SecureContext | undefined
}

export function createConnect({ sourceAddress, nameServers, proxy, ca }: ConnectOptions): Connect {
  if (sourceAddress !== undefined && isIP(sourceAddress) === 0)
    throw new Error('the address to send from is not an IP address')
  const setup: Setup = {
    sourceAddress,
    nameServers,
    proxy: proxy === undefined ? undefined : readProxy(proxy),
    trust: ca === undefined ? undefined : createSecureContext({ ca: [...rootCertificates, ca] }),
  }
  return (target, signal) => connect(setup, target, signal)
}

// One address after the other; each gets its share of the time that is left.
async function connect(setup: Setup, target: Target, signal: AbortSignal): Promise<OpenSocket> {
  const addresses = reachable(setup, await vettedAddresses(target, setup.nameServers))
  const end = performance.now() + connectMs
  let trouble = new Trouble('no_connection', 'it has no address of the kind that we send from')
  for (const [index, address] of addresses.entries()) {
    const ms = (end - performance.now()) / (addresses.length - index)
    try {
      return { ...(await attempt(setup, target, address, Math.max(ms, 1), signal)), address }
    } catch (error) {
      trouble = troubleOf(error as Error, false)
      if (trouble.failure === 'tls' || trouble.failure === 'forbidden_address' || signal.aborted) break
    }
  }
  throw trouble
}

// From an IPv4 address only IPv4 is reached; behind a proxy that is the proxy's own affair.
function reachable({ sourceAddress, proxy }: Setup, addresses: string[]) {
  const fits = (address: string) => !sourceAddress || proxy || isIP(address) === isIP(sourceAddress)
  return addresses.filter(fits).slice(0, maxAddresses)
}

async function attempt(
  setup: Setup,
  target: Target,
  address: string,
  ms: number,
  signal: AbortSignal,
): Promise<Omit<OpenSocket, 'address'>> {
  signal.throwIfAborted()
  const bytes = target.secure || setup.proxy ? undefined : sharedReader()
  const tcp = openTcp(setup, target, address, bytes?.onread)
  let socket = tcp
  const stop = (trouble: Trouble) => socket.destroy(trouble)
  const timer = setTimeout(() => stop(new Trouble('timeout', 'no connection in time')), ms)
  const giveUp = () => stop(new Trouble('timeout', 'given up'))
  signal.addEventListener('abort', giveUp)
  try {
    await once(tcp, 'connect')
    if (setup.proxy) await tunnel(tcp, setup.proxy, address, target.port)
    else vetReached(target, tcp)
    if (target.secure) {
      socket = startTls(setup, target, tcp)
      await once(socket, 'secureConnect').catch(asTls)
    }
    return { socket, listen: bytes?.listen ?? (hear => void socket.on('data', hear)) }
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', giveUp)
  }
}

function vetReached(target: Target, { remoteAddress }: Socket) {
  if (remoteAddress === undefined) throw new Trouble('no_connection', 'the connection was reset')
  vet(target, remoteAddress)
}

function openTcp({ proxy, sourceAddress }: Setup, target: Target, address: string, onread?: OnReadOpts) {
  const { host, port } = proxy ?? { host: address, port: target.port }
  const socket = connectTcp({ host, port, localAddress: sourceAddress, noDelay: true, onread })
  return socket.on('error', () => {}) // heard by whoever waits; without a listener it would end the process
}

// What comes on any connection is read into one piece of memory, and heard before the next is read: a new piece for each
// would cost a fifth of a request. TLS and tunnels need a stream, and read as streams do.
const shared = Buffer.allocUnsafe(64 * 1024)

function sharedReader() {
  const early: Buffer[] = []
  let hear: Hear = bytes => void early.push(Buffer.from(bytes))
  const onread: OnReadOpts = {
    buffer: shared,
    callback(length, bytes) {
      hear((bytes as Buffer).subarray(0, length))
      return true
    },
  }
  return {
    onread,
    listen(listener: Hear) {
      hear = listener
      for (const bytes of early) listener(bytes)
    },
  }
}

// The certificate must be for the host of the URL, whatever address we have connected to, and whatever the
// environment says about checking it.
function startTls({ trust }: Setup, { host }: Target, tcp: Socket): Socket {
  const servername = isIP(host) === 0 ? host : ''
  return connectTls({
    socket: tcp,
    host,
    servername,
    secureContext: trust,
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
  }).on('error', () => {})
}

function asTls(error: Error): never {
  throw error instanceof Trouble ? error : new Trouble('tls', words(error))
}
