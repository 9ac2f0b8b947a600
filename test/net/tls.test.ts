import { connect as connectTcp } from 'node:net'
import { createServer, type TlsOptions } from 'node:tls'
import { expect, test } from 'vitest'
import { type Certificate, makeCertificate } from './certificate.ts'
import { startNameServer } from './nameServer.ts'
import { answering, listen, listenOn, ok, outbound, request } from './support.ts'

const names = await startNameServer((_, type) => (type === 'A' ? ['127.0.0.1'] : []))
const good = makeCertificate('shop.test')
const other = makeCertificate('other.test')
const expired = makeCertificate('shop.test', { days: -1 })
const numeric = makeCertificate('127.0.0.1')

const trusting = (...certificates: Certificate[]) =>
  outbound({ nameServers: [names.address], ca: certificates.map(({ cert }) => cert).join('') || undefined })

const receiver = (certificate: Certificate, options: TlsOptions = {}) =>
  listenOn(createServer({ ...certificate, ...options }), 'secureConnection', answering(ok))

test('a good certificate is answered, and the connection is kept', async () => {
  const { port, sockets } = await receiver(good)
  const out = trusting(good)
  for (let i = 0; i < 3; i++) {
    const answer = await out.send(request(`https://shop.test:${port}/`))
    expect(answer).toMatchObject({ status: 200, failure: null, error: '', address: '127.0.0.1' })
  }
  expect(sockets.size).toBe(1)
})

test('100 Continue is skipped over TLS, too', async () => {
  const { port } = await listenOn(
    createServer(good),
    'secureConnection',
    answering(`HTTP/1.1 100 Continue\r\n\r\n${ok}`),
  )
  expect(await trusting(good).send(request(`https://shop.test:${port}/`))).toMatchObject({ status: 200 })
})

test('the server gets the name by SNI, without the final dot', async () => {
  const serverNames: unknown[] = []
  const server = createServer({ ...good })
  const { port } = await listenOn(server, 'secureConnection', socket => {
    serverNames.push((socket as { servername?: unknown }).servername)
    answering(ok)(socket)
  })
  const out = trusting(good)
  expect((await out.send(request(`https://SHOP.test:${port}/`))).status).toBe(200)
  expect((await out.send(request(`https://shop.test.:${port}/`))).status).toBe(200)
  expect(serverNames).toEqual(['shop.test', 'shop.test'])
})

test('a certificate for an address is good for that address', async () => {
  const { port } = await receiver(numeric)
  expect((await trusting(numeric).send(request(`https://127.0.0.1:${port}/`))).status).toBe(200)
})

for (const [what, certificate, trusted, host] of [
  ['self-signed', good, [], 'shop.test'],
  ['from another signer', good, [other], 'shop.test'],
  ['for another name', other, [good, other], 'shop.test'],
  ['for the address, but the URL has the name', numeric, [numeric], 'shop.test'],
  ['for the name, but the URL has the address', good, [good], '127.0.0.1'],
  ['expired', expired, [expired], 'shop.test'],
] as const) {
  test(`a certificate that is ${what} is refused`, async () => {
    const { port } = await receiver(certificate)
    const answer = await trusting(...trusted).send(request(`https://${host}:${port}/`))
    expect(answer).toMatchObject({ status: null, failure: 'tls', first_byte_ms: null })
    expect(answer.error).not.toBe('')
  })
}

test('the environment cannot switch the check off', async () => {
  const { port } = await receiver(good)
  const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  const answer = await trusting().send(request(`https://shop.test:${port}/`))
  if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
  else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before
  expect(answer.failure).toBe('tls')
})

for (const [what, serve] of [
  ['speaks plain HTTP', (socket: { write(text: string): unknown }) => void socket.write(ok)],
  [
    'sends garbage',
    (socket: { write(text: string): unknown }) => void socket.write('hello, this is no handshake\n'),
  ],
  ['hangs up in the handshake', (socket: { destroy(): unknown }) => void socket.destroy()],
] as const) {
  test(`a server that ${what} is no TLS`, async () => {
    const { port } = await listen(socket => {
      socket.once('data', () => serve(socket))
    })
    expect(await trusting(good).send(request(`https://shop.test:${port}/`))).toMatchObject({
      status: null,
      failure: 'tls',
    })
  })
}

test('a server that requires a client certificate reports it after the handshake, or hangs up', async () => {
  const { port } = await receiver(good, { requestCert: true, rejectUnauthorized: true, ca: other.cert })
  const answer = await trusting(good).send(request(`https://shop.test:${port}/`))
  expect(answer.status).toBeNull()
  expect(answer.failure).toMatch(/^(tls|no_connection)$/) // its last word may be lost with the connection
})

test('old versions of TLS are refused', async () => {
  const { port } = await receiver(good, {
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'ALL:@SECLEVEL=0',
  })
  expect((await trusting(good).send(request(`https://shop.test:${port}/`))).failure).toBe('tls')
})

test('a handshake that never answers is a timeout', async () => {
  const { port } = await listen(socket => void socket.resume())
  const answer = await trusting(good).send(request(`https://shop.test:${port}/`))
  expect(answer).toMatchObject({ status: null, failure: 'timeout', first_byte_ms: null })
  expect(answer.ms).toBeLessThan(8000)
})

test('a handshake with a byte a second is a timeout', async () => {
  const behind = await receiver(good)
  const { port, sockets } = await listen(socket => {
    const upstream = connectTcp(behind.port, '127.0.0.1').on('error', () => {})
    socket.pipe(upstream)
    upstream.once('data', chunk => {
      let at = 0
      const timer = setInterval(() => socket.write(chunk.subarray(at, ++at)), 1000)
      socket.on('close', () => clearInterval(timer))
    })
  })
  const answer = await trusting(good).send(request(`https://shop.test:${port}/`))
  expect(answer).toMatchObject({ status: null, failure: 'timeout' })
  expect(answer.ms).toBeLessThan(8000)
  expect(sockets.size).toBeLessThanOrEqual(1)
})
