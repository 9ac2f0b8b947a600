import { expect, test } from 'vitest'
import { createOutbound } from '../../../src/net/outbound.ts'
import {
  answering,
  type Listener,
  listen,
  ok,
  onRequest,
  outbound,
  patience,
  request,
  sleep,
} from '../support.ts'

test('a connection is kept for the next request, and no more are opened than are in use at once', async () => {
  const receiver = await listen(onRequest(socket => void setTimeout(() => socket.write(ok), 5)))
  const out = outbound()
  const sendMany = async () => {
    for (let i = 0; i < 25; i++) expect((await out.send(request(receiver.url))).status).toBe(200)
  }
  await Promise.all(Array.from({ length: 8 }, sendMany))
  expect(receiver.connections).toBe(8)
})

test('no request waits for a free connection', async () => {
  const receiver = await listen(onRequest(() => {}))
  const out = outbound()
  const sent = Array.from({ length: 40 }, () => out.send(request(receiver.url)))
  await expect.poll(() => receiver.connections, patience).toBe(40)
  await out.close()
  expect((await Promise.all(sent)).map(({ failure }) => failure)).toEqual(Array(40).fill('no_connection'))
})

test('many requests of one turn have a connection each, and none is lost or sent twice', async () => {
  const received: string[] = []
  const receiver = await listen(
    onRequest((socket, text) => {
      received.push(/x-number: (\d+)/.exec(text)?.[1] ?? '')
      socket.write(ok)
    }),
  )
  const out = outbound()
  for (let turn = 0; turn < 3; turn++) {
    const numbers = Array.from({ length: 40 }, (_, at) => String(turn * 40 + at))
    const sent = numbers.map(number => out.send(request(receiver.url, { headers: { 'x-number': number } })))
    expect((await Promise.all(sent)).every(({ status }) => status === 200)).toBe(true)
    expect(received.splice(0).toSorted()).toEqual(numbers.toSorted())
  }
  expect(receiver.connections).toBe(40)
})

test('a request on an idle connection that is cancelled in the same turn is never sent', async () => {
  let requests = 0
  const receiver = await listen(onRequest(socket => void (requests++, socket.write(ok))))
  const out = outbound()
  expect((await out.send(request(receiver.url))).status).toBe(200)
  const answer = out.send(request(receiver.url))
  await out.close()
  expect(await answer).toMatchObject({ status: null, failure: 'no_connection', first_byte_ms: null })
  await sleep(50)
  expect(requests).toBe(1)
})

test('two lanes to one origin have separate connections', async () => {
  const asked = new Map<unknown, Set<string>>()
  const receiver = await listen(socket =>
    onRequest((_, text) => {
      const [, lane = ''] = /x-lane: (\w+)/.exec(text) ?? []
      asked.set(socket, (asked.get(socket) ?? new Set()).add(lane))
      socket.write(ok)
    })(socket),
  )
  const out = outbound()
  for (let i = 0; i < 10; i++)
    for (const lane of ['one', 'two'])
      await out.send(request(receiver.url, { lane, headers: { 'x-lane': lane } }))
  expect([...asked.values()].map(lanes => [...lanes])).toEqual([['one'], ['two']])
  expect(receiver.connections).toBe(2)
})

test('a server that closes after each answer gets a new connection each time', async () => {
  const receiver = await listen(answering(ok.replace('\r\n', '\r\nconnection: close\r\n')))
  const out = outbound()
  for (let i = 0; i < 5; i++) expect((await out.send(request(receiver.url))).status).toBe(200)
  expect(receiver.connections).toBe(5)
})

test('a connection that was closed while it was idle is not used', async () => {
  const receiver = await listen(onRequest(socket => socket.end(ok)))
  const out = outbound()
  for (let i = 0; i < 5; i++) {
    expect((await out.send(request(receiver.url))).status).toBe(200)
    await sleep(50)
  }
})

test('a POST on a reused connection that breaks is reported, and never sent twice', async () => {
  let requests = 0
  const receiver = await listen(
    onRequest(socket => {
      requests++
      if (requests === 1) socket.write(ok)
      else socket.destroy()
    }),
  )
  const out = outbound()
  expect((await out.send(request(receiver.url))).status).toBe(200)
  expect(await out.send(request(receiver.url))).toMatchObject({ status: null, failure: 'no_connection' })
  await sleep(100)
  expect(requests).toBe(2)
  expect(receiver.connections).toBe(1)
})

// On both sides, however late the timer of the other side fires.
async function isGone({ sockets }: Listener) {
  await expect.poll(() => sockets.size, { ...patience, interval: 20 }).toBe(0)
  await sleep(100)
}

test('unrequested bytes close a connection, and are no answer', async () => {
  const receiver = await listen(
    onRequest(socket => {
      socket.write(ok)
      setTimeout(() => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged'), 20)
    }),
  )
  const out = outbound()
  for (let i = 0; i < 3; i++) {
    const answer = await out.send(request(receiver.url))
    expect(answer.body?.toString()).toBe('ok')
    await isGone(receiver)
  }
  expect(receiver.connections).toBe(3)
})

test('an answer with another one behind it is one answer', async () => {
  const receiver = await listen(answering(ok + ok.replace('200', '500')))
  const out = outbound()
  for (let i = 0; i < 3; i++) expect((await out.send(request(receiver.url))).status).toBe(200)
  expect(receiver.connections).toBe(3)
})

const answer = (line: string, ...headers: string[]) => `HTTP/${[line, ...headers].join('\r\n')}\r\n\r\n`
for (const [what, text, connections] of [
  ['a length', ok, 1],
  ['no body', answer('1.1 204 No Content'), 1],
  ['304 with the length of what it does not send', answer('1.1 304 Same', 'content-length: 9'), 1],
  ['chunks', answer('1.1 200 OK', 'Transfer-Encoding: Chunked').concat('2;x\r\nok\r\n0\r\na: b\r\n\r\n'), 1],
  ['100 Continue before', answer('1.1 100 Continue').concat(ok), 1],
  ['HTTP/1.0', answer('1.0 200 OK', 'content-length: 0'), 3],
  ['HTTP/1.0 that keeps', answer('1.0 200 OK', 'Connection: Keep-Alive', 'content-length: 0'), 1],
  ['a close', answer('1.1 200 OK', 'Connection: CLOSE', 'content-length: 0'), 3],
  ['a close among others', answer('1.1 200 OK', 'connection: x, close ,y', 'content-length: 0'), 3],
  [
    'both of them',
    answer('1.1 200 OK', 'connection: close', 'connection: keep-alive', 'content-length: 0'),
    3,
  ],
  [
    'a long keep-alive timeout',
    answer('1.1 200 OK', 'keep-alive: timeout=5, max=100', 'content-length: 0'),
    1,
  ],
  ['a short keep-alive timeout', answer('1.1 200 OK', 'keep-alive: timeout=1', 'content-length: 0'), 3],
  ['a broken chunk', answer('1.1 200 OK', 'transfer-encoding: chunked').concat('2\r\nokay\r\n0\r\n\r\n'), 3],
  ['another coding', answer('1.1 200 OK', 'transfer-encoding: gzip, chunked').concat('0\r\n\r\n'), 3],
  ['chunks of HTTP/1.0', answer('1.0 200 OK', 'transfer-encoding: chunked', 'connection: keep-alive'), 3],
  ['a length and chunks', answer('1.1 200 OK', 'content-length: 0', 'transfer-encoding: chunked'), 3],
  ['the same length twice', answer('1.1 200 OK', 'content-length: 0', 'content-length: 0'), 3],
  ['two lengths in one', answer('1.1 200 OK', 'content-length: 0, 0'), 3],
  ['a negative length', answer('1.1 200 OK', 'content-length: -1'), 3],
  ['a huge length', answer('1.1 200 OK', `content-length: ${'9'.repeat(30)}`), 3],
  ['no number', answer('1.1 200 OK', 'content-length: 0x0'), 3],
  ['an empty length', answer('1.1 200 OK', 'content-length:'), 3],
  ['a huge chunk', answer('1.1 200 OK', 'transfer-encoding: chunked').concat('fffffffff\r\n'), 3],
  ['a byte too many', ok.concat('!'), 3],
  ['a body that 204 must not have', answer('1.1 204 No Content', 'content-length: 2').concat('ok'), 3],
] as const) {
  test(`an answer with ${what}: three requests, ${connections === 1 ? 'one connection' : 'a new connection each'}`, async () => {
    const receiver = await listen(answering(text))
    const out = outbound()
    const status = Number(/ ([2-5]\d\d)/.exec(text)?.[1])
    for (let i = 0; i < 3; i++)
      expect(await out.send(request(receiver.url))).toMatchObject({ status, failure: null })
    expect(receiver.connections).toBe(connections)
  })
}

test('an answer before the whole request is written counts, but closes the connection', async () => {
  const receiver = await listen(socket => void socket.once('data', () => socket.pause().write(ok)))
  const out = outbound()
  const body = Buffer.alloc(16 * 1024 * 1024)
  for (let i = 0; i < 2; i++) expect((await out.send(request(receiver.url, { body }))).status).toBe(200)
  expect(receiver.connections).toBe(2)
})

test('a connection that is reset while it is idle affects no request', async () => {
  const receiver = await listen(
    onRequest(socket => {
      socket.write(ok)
      setTimeout(() => socket.resetAndDestroy(), 20)
    }),
  )
  const out = outbound()
  for (let i = 0; i < 3; i++) {
    expect((await out.send(request(receiver.url))).status).toBe(200)
    await isGone(receiver)
  }
  expect(receiver.connections).toBe(3)
})

test('idle connections are closed after some seconds', async () => {
  const receiver = await listen(answering(ok))
  const out = outbound()
  await out.send(request(receiver.url))
  expect(receiver.sockets.size).toBe(1)
  await expect.poll(() => receiver.sockets.size, patience).toBe(0)
})

test("a connection is closed a second before the server's announced timeout", async () => {
  const receiver = await listen(answering(ok.replace('\r\n', '\r\nKeep-Alive: timeout=2\r\n')))
  const out = outbound()
  const began = Date.now()
  await out.send(request(receiver.url))
  await expect.poll(() => receiver.sockets.size, { ...patience, interval: 20 }).toBe(0)
  expect(Date.now() - began).toBeGreaterThan(800)
  expect(Date.now() - began).toBeLessThan(2500)
})

test('a limited number of idle connections is kept, the last used ones', async () => {
  const receivers = await Promise.all(Array.from({ length: 6 }, () => listen(answering(ok))))
  const out = outbound({ maxSockets: 2 })
  for (const { url } of receivers) await out.send(request(url))
  await expect
    .poll(() => receivers.map(({ sockets }) => sockets.size), { ...patience, interval: 10 })
    .toEqual([0, 0, 0, 0, 1, 1])
})

test('one connection that breaks does not affect others', async () => {
  let count = 0
  const receiver = await listen(onRequest(socket => (++count % 2 ? socket.destroy() : socket.write(ok))))
  const out = outbound()
  const answers = await Promise.all(Array.from({ length: 60 }, () => out.send(request(receiver.url))))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(30)
  expect(answers.filter(({ failure }) => failure === 'no_connection')).toHaveLength(30)
  expect(count).toBe(60)
})

test('requests are sent from the source address', async () => {
  const seen: (string | undefined)[] = []
  const receiver = await listen(socket => {
    seen.push(socket.remoteAddress)
    answering(ok)(socket)
  })
  const out = outbound({ sourceAddress: '127.0.0.2' })
  expect((await out.send(request(`http://localhost:${receiver.port}/`))).status).toBe(200)
  expect(seen).toEqual(['127.0.0.2'])
  expect(await out.send(request(`http://[::1]:${receiver.port}/`))).toMatchObject({
    failure: 'no_connection',
    error: 'it has no address in the address family of the source address',
  })
  expect(() => createOutbound({ sourceAddress: 'eth0' })).toThrow()
})

test('after it is closed nothing is sent, and nothing stays open', async () => {
  const receiver = await listen(answering(ok))
  const out = outbound()
  await out.send(request(receiver.url))
  await out.close()
  await out.close()
  await expect.poll(() => receiver.sockets.size, patience).toBe(0)
  expect(await out.send(request(receiver.url))).toMatchObject({ status: null, failure: 'no_connection' })
})
