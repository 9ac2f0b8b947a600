import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { Order } from '../../../src/core/provider/order.ts'
import { NotSent } from '../../../src/core/provider/reply.ts'
import { operatorUrl } from '../../../src/core/urlTrust.ts'
import { openProviderHttp } from '../../../src/providers/http/providerHttp.ts'
import { guardAccount } from '../../../src/runtime/providers/guard.ts'
import { makeCertificate } from '../../net/certificate.ts'

// What is known of an order that got no answer: whether anything of it has left.
const { askJson, askText, sendJson, sendText } = openProviderHttp()

const opened: Server[] = []
afterEach(() => opened.splice(0).forEach(server => server.close()))

async function listen(server: Server) {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  opened.push(server)
  return (server.address() as AddressInfo).port
}

const post = (signal: AbortSignal = new AbortController().signal) => ({
  method: 'POST' as const,
  headers: { 'content-type': 'application/json' },
  body: '{"amount":"25.00"}',
  signal,
})
const sent = (url: string, signal?: AbortSignal) =>
  sendJson(operatorUrl(url), post(signal)).catch((error: unknown) => error)

test('an answer is returned, and the order has a content-length', async () => {
  const heard: IncomingMessage[] = []
  const server = createServer((incoming, outgoing) => {
    heard.push(incoming)
    outgoing.writeHead(202).end('{"ok":true}')
  })
  const url = `http://127.0.0.1:${await listen(server)}/`
  expect(await sent(url)).toEqual({ http: 202, answer: { ok: true } })
  expect(heard[0]?.headers).toMatchObject({ 'content-length': '18', 'content-type': 'application/json' })
  expect(heard[0]?.headers['transfer-encoding']).toBeUndefined()
  expect(await askJson(operatorUrl(url), { signal: new AbortController().signal })).toMatchObject({
    http: 202,
  })
})

test('connection refused: nothing was sent', async () => {
  const server = createTcpServer()
  const port = await listen(server)
  await new Promise(closed => server.close(closed))
  expect(await sent(`http://127.0.0.1:${port}/`)).toBeInstanceOf(NotSent)
  const failure = await sent(`http://localhost:${port}/`) // may have several addresses
  expect(failure).toBeInstanceOf(NotSent)
  expect((failure as Error).message).toContain('ECONNREFUSED')
})

test('an unknown host name: nothing was sent', async () => {
  expect(await sent('http://no-such-name.invalid/')).toBeInstanceOf(NotSent)
})

test('an invalid certificate: nothing was sent', async () => {
  let requests = 0
  const server = createSecureServer(makeCertificate('bank.example'), (_, outgoing) => {
    requests++
    outgoing.end('{}')
  })
  expect(await sent(`https://127.0.0.1:${await listen(server)}/`)).toBeInstanceOf(NotSent)
  expect(requests).toBe(0)
})

test('closed before the TLS handshake ends: nothing was sent', async () => {
  const server = createTcpServer(socket => void socket.destroy())
  expect(await sent(`https://127.0.0.1:${await listen(server)}/`)).toBeInstanceOf(NotSent)
})

test('closed after it was connected: it may have been read', async () => {
  const server = createTcpServer(socket => void socket.once('data', () => socket.destroy()))
  const failure = await sent(`http://127.0.0.1:${await listen(server)}/`)
  expect(failure).toBeInstanceOf(Error)
  expect(failure).not.toBeInstanceOf(NotSent)
})

for (const [what, answer] of [
  ['no JSON', 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nwhat'],
  ['a redirect', 'HTTP/1.1 307 Go\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 2\r\n\r\n{}'],
  ['half an answer', 'HTTP/1.1 200 OK\r\ncontent-length: 40\r\n\r\n{"a":'],
  ['an endless answer', `HTTP/1.1 200 OK\r\n\r\n{"a":"${'x'.repeat(100_000)}`],
] as const)
  test(`${what}: it was sent`, async () => {
    const server = createTcpServer(socket => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end(answer))
    })
    const failure = await sent(`http://127.0.0.1:${await listen(server)}/`)
    expect(failure).toBeInstanceOf(Error)
    expect(failure).not.toBeInstanceOf(NotSent)
  })

test('an order never uses an idle connection of the pool', async () => {
  const sockets = new Set<unknown>()
  const server = createServer((incoming, outgoing) => {
    sockets.add(incoming.socket)
    outgoing.end('{}')
  })
  const url = `http://127.0.0.1:${await listen(server)}/`
  for (let times = 0; times < 3; times++) await sent(url)
  expect(sockets.size).toBe(3)
  server.closeAllConnections()
})

const terms = { account: 'played', startIsIdempotent: true, visibleWithinMs: 0, failureMayReverseForMs: 0 }

// As the house calls it: our deadline comes first.
const lineAt = (url: string, ring: (over: () => void) => void) =>
  guardAccount(
    {
      ...terms,
      mode: 'test',
      methods: [],
      start: async (_, signal) => (await sendJson(operatorUrl(url), post(signal)), { state: 'pending' }),
      check: async (_, signal) => (await askJson(operatorUrl(url), { signal }), { state: 'pending' }),
    },
    over => (ring(over), () => {}),
  )
const order = { attempt_id: 'a' } as Order

test('the deadline ends before the TLS handshake: nothing was sent', async () => {
  const server = createTcpServer(() => {}) // says nothing
  const url = `https://127.0.0.1:${await listen(server)}/`
  const connected = once(server, 'connection')
  const reply = lineAt(url, over => void connected.then(over)).start(order)
  expect(await reply).toEqual({ state: 'not_sent', words: 'no answer in time' })
})

test('the deadline ends after it was sent: unknown', async () => {
  const server = createServer(() => {}) // says nothing
  const url = `http://127.0.0.1:${await listen(server)}/`
  const read = once(server, 'request')
  const account = lineAt(url, over => void read.then(over))
  expect(await account.start(order)).toEqual({ state: 'unknown', words: 'no answer in time' })
  server.closeAllConnections()
})

test('a question that was not sent says nothing about the order', async () => {
  const account = guardAccount({
    ...terms,
    mode: 'test',
    methods: [],
    start: () => Promise.reject(new NotSent('no line')),
    check: () => Promise.reject(new NotSent('no line')),
  })
  expect(await account.start(order)).toEqual({ state: 'not_sent', words: 'no line' })
  expect(await account.check(order)).toEqual({ state: 'unknown', words: 'no line' })
})

test('an empty body is an answer if no JSON is expected', async () => {
  const server = createServer((_, outgoing) => outgoing.writeHead(202).end())
  const url = `http://127.0.0.1:${await listen(server)}/`
  expect(await sendText(operatorUrl(url), post())).toEqual({ http: 202, text: '' })
  expect(await askText(operatorUrl(url), { signal: post().signal })).toEqual({ http: 202, text: '' })
  server.closeAllConnections()
})

test('Retry-After is read', async () => {
  const server = createServer((_, outgoing) => outgoing.writeHead(429, { 'retry-after': '7' }).end('{}'))
  const url = `http://127.0.0.1:${await listen(server)}/`
  expect(await sent(url)).toEqual({ http: 429, answer: {}, restMs: 7000 })
})

test('an error does not contain the body: it may have private data', async () => {
  const server = createServer((_, outgoing) => outgoing.end('233241234567 is no JSON'))
  const failure = await sent(`http://127.0.0.1:${await listen(server)}/`)
  expect((failure as Error).message).toBe('HTTP 200, and the answer is not a JSON object')
})
