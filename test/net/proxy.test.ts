import { createServer } from 'node:tls'
import { expect, test } from 'vitest'
import { createOutbound } from '../../src/net/outbound.ts'
import { makeCertificate } from './certificate.ts'
import { startProxy } from './connectProxy.ts'
import { startNameServer } from './nameServer.ts'
import { answering, listen, listenOn, ok, outbound, request } from './support.ts'

const established = () => 'HTTP/1.1 200 Connection established\r\n\r\n'
const publicly = '93.184.215.14'
const zone: Record<string, readonly string[]> = {
  'shop.test': [publicly],
  'six.test': ['2606:4700::1'],
  'inside.test': ['10.0.0.1'],
  'mixed.test': [publicly, '127.0.0.1'],
}
const names = await startNameServer((name, type) =>
  (zone[name] ?? []).filter(address => address.includes(':') === (type === 'AAAA')),
)
const nameServers = [names.address]

for (const [url, to] of [
  ['http://shop.test/hook', `${publicly}:80`],
  ['http://shop.test:8443/hook', `${publicly}:8443`],
  ['http://six.test/hook', '[2606:4700::1]:80'],
  ['http://1.1.1.1/hook', '1.1.1.1:80'],
] as const) {
  test(`${url} is sent through the proxy to ${to}, and the proxy does not receive the name`, async () => {
    const receiver = await listen(answering(ok))
    const proxy = await startProxy(established, receiver.port)
    const out = outbound({ proxy: proxy.url, nameServers })
    const send = () => out.send(request(url, { allowLoopback: false }))
    expect(await send()).toMatchObject({
      status: 200,
      failure: null,
      address: to.replace(/^\[|\]?:\d+$/g, ''),
    })
    expect((await send()).status).toBe(200)
    expect(proxy.asked).toEqual([`CONNECT ${to} HTTP/1.1\r\nhost: ${to}\r\n\r\n`]) // once: the tunnel is kept
  })
}

test('the proxy receives the configured user and password', async () => {
  const receiver = await listen(answering(ok))
  const proxy = await startProxy(established, receiver.port)
  const out = outbound({ proxy: proxy.url.replace('//', '//runtime:p%40ss%3Aword@'), nameServers })
  expect((await out.send(request('http://shop.test/', { allowLoopback: false }))).status).toBe(200)
  const pair = Buffer.from('runtime:p@ss:word').toString('base64')
  expect(proxy.asked[0]).toContain(`proxy-authorization: Basic ${pair}\r\n`)
})

test('TLS runs through the tunnel, and the certificate must be for the name', async () => {
  const certificate = makeCertificate('shop.test')
  const receiver = await listenOn(createServer(certificate), 'secureConnection', answering(ok))
  const proxy = await startProxy(established, receiver.port)
  const out = outbound({ proxy: proxy.url, nameServers, ca: certificate.cert })
  const send = (url: string) => out.send(request(url, { allowLoopback: false }))
  expect(await send('https://shop.test/')).toMatchObject({ status: 200, address: publicly })
  expect(await send('https://six.test/')).toMatchObject({ status: null, failure: 'tls' })
  expect(proxy.asked.map(head => head.split(' ')[1])).toEqual([`${publicly}:443`, '[2606:4700::1]:443'])
})

test('the address guard applies: the proxy gets no request', async () => {
  const proxy = await startProxy(established, 1)
  const out = outbound({ proxy: proxy.url, nameServers, ports: [proxy.port] })
  for (const host of [
    'inside.test',
    'mixed.test',
    '127.0.0.1',
    `localhost:${proxy.port}`,
    '169.254.169.254',
    '[::1]',
    '2130706433',
  ])
    expect((await out.send(request(`http://${host}/`, { allowLoopback: false }))).failure).toBe(
      'forbidden_address',
    )
  expect(proxy.connections).toBe(0)
})

for (const [what, reply, error] of [
  ['403', 'HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n', 'the proxy answered HTTP 403'],
  ['407', 'HTTP/1.1 407 Who are you\r\n\r\n', 'the proxy answered HTTP 407'],
  ['502 with a page', 'HTTP/1.1 502 Bad\r\ncontent-length: 4\r\n\r\noops', 'the proxy answered HTTP 502'],
  [
    'more than the headers',
    'HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\nx',
    'the proxy sent more than its headers',
  ],
  ['no HTTP', 'hello\r\n\r\n', 'the proxy did not answer with HTTP'],
  ['endless headers', `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(20_000)}`, 'the proxy sent more than its headers'],
] as const) {
  test(`a proxy that answers ${what} is no connection`, async () => {
    const receiver = await listen(answering(ok))
    const proxy = await startProxy(() => reply, receiver.port)
    const out = outbound({ proxy: proxy.url, nameServers })
    const answer = await out.send(request('http://shop.test/', { allowLoopback: false }))
    expect(answer).toMatchObject({ status: null, failure: 'no_connection', error, first_byte_ms: null })
  })
}

test('a proxy that hangs up or does not exist is no connection', async () => {
  const hanging = await listen(socket => void socket.once('data', () => socket.end()))
  for (const proxy of [hanging.url, 'http://127.0.0.1:1']) {
    const answer = await outbound({ proxy, nameServers }).send(
      request('http://1.1.1.1/', { allowLoopback: false }),
    )
    expect(answer).toMatchObject({ status: null, failure: 'no_connection' })
  }
})

test('a proxy that does not answer is a timeout', async () => {
  const proxy = await startProxy(() => undefined, 1)
  const out = outbound({ proxy: proxy.url, nameServers })
  const answer = await out.send(request('http://1.1.1.1/', { allowLoopback: false }))
  expect(answer).toMatchObject({ status: null, failure: 'timeout', first_byte_ms: null })
  expect(answer.ms).toBeLessThan(8000)
})

for (const proxy of ['https://127.0.0.1:1', 'socks5://127.0.0.1:1', 'proxy:8080', '']) {
  test(`'${proxy}' is not a valid proxy, which throws at the start`, () => {
    expect(() => createOutbound({ proxy })).toThrow()
  })
}
