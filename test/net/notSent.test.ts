import assert from 'node:assert/strict'
import { createServer } from 'node:tls'
import { expect, test } from 'vitest'
import { NotSent } from '../../src/core/provider/reply.ts'
import { operatorUrl } from '../../src/core/urlTrust.ts'
import type { Messenger } from '../../src/core/message/messenger.ts'
import smsHttp from '../../src/messengers/smsHttp.ts'
import { wasSent } from '../../src/net/connection.ts'
import { openProviderHttp } from '../../src/providers/http/providerHttp.ts'
import { newMessage, newTools, openMessenger } from '../messengers/tools.ts'
import { makeCertificate } from './certificate.ts'
import { startProxy } from './connectProxy.ts'
import { later, listen, listenOn, ok, onRequest, outbound, request, sleep } from './support.ts'

// Everything that sends requests agrees on what was not sent: no byte of the request was written to the socket.
type Outcome = 'answered' | 'not sent' | 'unknown'
type Send = (url: string) => Promise<Outcome>

function deliveries(proxy?: string): Send {
  const out = outbound({ proxy })
  return async url => {
    const result = await out.send(request(url))
    if (result.status !== null) return 'answered'
    return wasSent(result) ? 'unknown' : 'not sent'
  }
}

const signal = new AbortController().signal

// A POST has a separate connection, so only a GET reuses connections.
function providers(proxy?: string, isQuestion = false): Send {
  const { askText, sendText } = openProviderHttp({ proxy })
  return async url => {
    const sent = isQuestion
      ? askText(operatorUrl(url), { signal })
      : sendText(operatorUrl(url), { method: 'POST', body: '{}', signal })
    return sent.then(
      () => 'answered',
      (error: unknown) => (error instanceof NotSent ? 'not sent' : 'unknown'),
    )
  }
}

function sms(): Send {
  const messengers = new Map<string, Messenger>()
  return async url => {
    const settings = { SMS_HTTP_URL: url, SMS_HTTP_BODY: 'to={to}&text={text}' }
    const messenger = messengers.get(url) ?? openMessenger(smsHttp, settings, newTools(), 5000)
    assert.ok(messenger)
    if (!messengers.has(url)) later(messenger.close)
    messengers.set(url, messenger)
    const sent = await messenger.send(newMessage({ to: '+233241234567' }))
    if (sent.state === 'sent') return 'answered'
    return sent.reason.startsWith('not sent: ') ? 'not sent' : 'unknown'
  }
}

const users = { deliveries, providers, sms } as const

for (const [user, open] of Object.entries(users)) {
  test(`${user}: a refused connection is not sent`, async () => {
    expect(await open()('http://127.0.0.1:1/')).toBe('not sent')
  })

  test(`${user}: a certificate that is not trusted is not sent`, async () => {
    let requests = 0
    const server = createServer(makeCertificate('127.0.0.1'))
    const { port } = await listenOn(
      server,
      'secureConnection',
      onRequest(() => requests++),
    )
    expect(await open()(`https://127.0.0.1:${port}/`)).toBe('not sent')
    expect(requests).toBe(0)
  })

  test(`${user}: a connection that is closed in the TLS handshake is not sent`, async () => {
    const { port } = await listen(socket => void socket.once('data', () => socket.destroy()))
    expect(await open()(`https://127.0.0.1:${port}/`)).toBe('not sent')
  })

  test(`${user}: a reset after the first byte is unknown`, async () => {
    const { url } = await listen(socket => void socket.once('data', () => socket.resetAndDestroy()))
    expect(await open()(url)).toBe('unknown')
  })

  test(`${user}: an answer that is not HTTP is unknown`, async () => {
    const { url } = await listen(onRequest(socket => void socket.end('what?\r\n\r\n')))
    expect(await open()(url)).toBe('unknown')
  })
}

// The SMS gateway is never called through a proxy.
for (const [user, open] of Object.entries({ deliveries, providers })) {
  test(`${user}: a tunnel that the proxy refuses is not sent`, async () => {
    const proxy = await startProxy(() => 'HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n', 1)
    expect(await open(proxy.url)('http://127.0.0.1:8443/')).toBe('not sent')
    expect(proxy.asked).toHaveLength(1)
  })

  test(`${user}: a reset behind the proxy after the first byte is unknown`, async () => {
    const receiver = await listen(socket => void socket.once('data', () => socket.resetAndDestroy()))
    const proxy = await startProxy(() => 'HTTP/1.1 200 OK\r\n\r\n', receiver.port)
    expect(await open(proxy.url)(receiver.url)).toBe('unknown')
  })
}

// A reused connection may break when the request is written. The request is not repeated on another one.
for (const [user, send] of Object.entries({
  deliveries: deliveries(),
  'questions to providers': providers(undefined, true),
  sms: sms(),
})) {
  test(`${user}: a request on a reused connection that breaks is unknown, and not sent again`, async () => {
    let requests = 0
    const receiver = await listen(
      onRequest(socket => {
        requests++
        if (requests === 1) socket.write(ok)
        else socket.resetAndDestroy()
      }),
    )
    expect(await send(receiver.url)).toBe('answered')
    expect(await send(receiver.url)).toBe('unknown')
    await sleep(100)
    expect([requests, receiver.connections]).toEqual([2, 1])
  })
}

test('orders to providers never reuse a connection', async () => {
  const receiver = await listen(onRequest(socket => void socket.write(ok)))
  const send = providers()
  const ask = providers(undefined, true)
  for (let i = 0; i < 3; i++)
    expect([await ask(receiver.url), await send(receiver.url)]).toEqual(['answered', 'answered'])
  expect(receiver.connections).toBe(4) // one that the questions share, and one for each order
})
