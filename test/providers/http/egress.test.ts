import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { Egress } from '../../../src/core/provider/provider.ts'
import { NotSent } from '../../../src/core/provider/reply.ts'
import { operatorUrl } from '../../../src/core/urlTrust.ts'
import { openProviderHttp } from '../../../src/providers/http/providerHttp.ts'
import { makeCertificate } from '../../net/certificate.ts'

// By which address and through which proxy a request leaves, and what is known of an order that got no answer there.
const opened: Server[] = []
afterEach(() => opened.splice(0).forEach(server => server.close()))

async function listen(server: Server) {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  opened.push(server)
  return (server.address() as AddressInfo).port
}

const call = (signal = new AbortController().signal) => ({
  method: 'POST' as const,
  headers: { 'content-type': 'application/json' },
  body: '{"phone":"+233241234567"}',
  signal,
})
const sent = (url: string, egress: Egress, signal?: AbortSignal) =>
  openProviderHttp(egress)
    .sendJson(operatorUrl(url), call(signal))
    .catch((error: unknown) => error)
const askAt = (url: string, egress: Egress = {}, method: 'GET' | 'POST' = 'GET') =>
  openProviderHttp(egress).askJson(operatorUrl(url), { method, signal: new AbortController().signal })

function openProvider(secure = false) {
  const heard: IncomingMessage[] = []
  const addresses: (string | undefined)[] = []
  const answer = (incoming: IncomingMessage, outgoing: { end(text: string): void }) => {
    heard.push(incoming)
    addresses.push(incoming.socket.remoteAddress)
    outgoing.end('{"ok":true}')
  }
  const server = secure ? createSecureServer(makeCertificate('localhost'), answer) : createServer(answer)
  return { server, heard, addresses }
}

// Lets everybody through, or answers this.
function openProxy(status = 200) {
  const asked: IncomingMessage[] = []
  const server = createServer().on('connect', (incoming: IncomingMessage, client) => {
    asked.push(incoming)
    client.on('error', () => {})
    if (status !== 200) return client.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`)
    const { hostname, port } = new URL(`http://${incoming.url}`)
    const target = connect(Number(port), hostname, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      client.pipe(target).pipe(client)
    })
    return target.on('error', () => client.destroy())
  })
  return { server, asked }
}

test('from an address of this machine', async () => {
  const { server, addresses } = openProvider()
  const url = `http://127.0.0.1:${await listen(server)}/`
  await sent(url, { address: '127.0.0.7' })
  await askAt(url, { address: '127.0.0.8' })
  await askAt(url, { address: '127.0.0.9' })
  expect(addresses).toEqual(['127.0.0.7', '127.0.0.8', '127.0.0.9'])
  server.closeAllConnections()
})

test('from an address of another machine: nothing was sent', async () => {
  const { server } = openProvider()
  const url = `http://127.0.0.1:${await listen(server)}/`
  expect(await sent(url, { address: '192.0.2.1' })).toBeInstanceOf(NotSent)
})

test('through a proxy, which only sees the host', async () => {
  const [provider, proxy] = [openProvider(), openProxy()]
  const url = `http://127.0.0.1:${await listen(provider.server)}/orders?a=1`
  const address = `http://us%20er:pass%3A@127.0.0.1:${await listen(proxy.server)}`
  expect(await sent(url, { proxy: address })).toEqual({ http: 200, answer: { ok: true } })
  expect(provider.heard[0]).toMatchObject({ url: '/orders?a=1', headers: { 'content-length': '25' } })
  expect(proxy.asked[0]).toMatchObject({ url: new URL(url).host })
  expect(proxy.asked[0]?.headers).toEqual({
    host: new URL(url).host,
    'proxy-authorization': `Basic ${Buffer.from('us er:pass:').toString('base64')}`,
  })
})

test('through a proxy by TLS, with the provider’s certificate', async () => {
  const [provider, proxy] = [openProvider(true), openProxy()]
  const port = await listen(provider.server)
  const egress = { proxy: `http://127.0.0.1:${await listen(proxy.server)}` }
  const refused = await sent(`https://localhost:${port}/`, egress) // nobody vouches for it
  expect(refused).toBeInstanceOf(NotSent)
  expect(provider.heard).toEqual([])
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  const taken = await sent(`https://localhost:${port}/`, egress)
  delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
  expect(taken).toEqual({ http: 200, answer: { ok: true } })
})

for (const [what, open, words] of [
  ['refuses us', () => openProxy(407).server, 'the proxy answered HTTP 407'],
  ['cannot reach the provider', () => openProxy(502).server, 'the proxy answered HTTP 502'],
  ['hangs up', () => createTcpServer(socket => void socket.destroy()), 'the proxy: '],
] as const)
  test(`a proxy that ${what}: nothing was sent`, async () => {
    const proxy = `http://user:secret-word@127.0.0.1:${await listen(open())}`
    const failure = await sent('https://provider.test/', { proxy })
    expect(failure).toBeInstanceOf(NotSent)
    expect((failure as Error).message).toContain(words)
    expect((failure as Error).message).not.toContain('secret-word')
  })

test('no proxy listens there: nothing was sent', async () => {
  const failure = await sent('https://provider.test/', { proxy: 'http://127.0.0.1:1' })
  expect(failure).toBeInstanceOf(NotSent)
  expect((failure as Error).message).toBe('the proxy: the connection was refused (ECONNREFUSED)')
})

for (const proxy of ['nonsense', 'socks5://127.0.0.1:1', 'https://127.0.0.1:1', 'http://u:geheim@p:1/path'])
  test(`no account is opened with ${proxy} as its proxy`, () => {
    expect(() => openProviderHttp({ proxy })).toThrow(/^the proxy must be a URL such as http:\/\/proxy:3128$/)
  })

test('a proxy that does not answer in time: nothing was sent', async () => {
  const server = createTcpServer(socket => void socket.on('error', () => {}))
  const proxy = `http://127.0.0.1:${await listen(server)}`
  const connected = once(server, 'connection')
  const hangUp = new AbortController()
  const sending = sent('https://provider.test/', { proxy }, hangUp.signal)
  await connected
  hangUp.abort(new Error('no answer in time'))
  expect(await sending).toEqual(new NotSent('no answer in time'))
})

test('cut behind the proxy after it was sent: it may have been read', async () => {
  const provider = createTcpServer(socket => void socket.once('data', () => socket.destroy()))
  const url = `http://127.0.0.1:${await listen(provider)}/`
  const failure = await sent(url, { proxy: `http://127.0.0.1:${await listen(openProxy().server)}` })
  expect(failure).toBeInstanceOf(Error)
  expect(failure).not.toBeInstanceOf(NotSent)
})

test('a request without a body has a content-length', async () => {
  const { server, heard } = openProvider()
  const url = `http://127.0.0.1:${await listen(server)}/`
  await askAt(url, {}, 'POST')
  expect(heard[0]?.headers['content-length']).toBe('0')
  expect(heard[0]?.headers['transfer-encoding']).toBeUndefined()
})
