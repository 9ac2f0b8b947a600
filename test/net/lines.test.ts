import { expect, test } from 'vitest'
import { createOutbound } from '../../src/net/outbound.ts'
import { answering, listen, ok, onRequest, outbound, patience, request, sleep } from './support.ts'

test('a connection is kept for the next request, and at most eight are opened', async () => {
  const receiver = await listen(onRequest(socket => void setTimeout(() => socket.write(ok), 5)))
  const out = outbound()
  const answers = await Promise.all(Array.from({ length: 200 }, () => out.send(request(receiver.url))))
  expect(answers.every(({ status }) => status === 200)).toBe(true)
  expect(receiver.connections).toBe(8)
})

test('a server that closes after each answer is called anew', async () => {
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

test('a POST on a kept connection that breaks is told, and never sent twice', async () => {
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

test('bytes that nobody asked for spoil a connection, and are no answer', async () => {
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
    await sleep(200)
  }
  expect(receiver.connections).toBe(3)
})

test('an answer with another one behind it is one answer', async () => {
  const receiver = await listen(answering(ok + ok.replace('200', '500')))
  const out = outbound()
  for (let i = 0; i < 3; i++) expect((await out.send(request(receiver.url))).status).toBe(200)
})

test('idle connections are closed after some seconds', async () => {
  const receiver = await listen(answering(ok))
  const out = outbound()
  await out.send(request(receiver.url))
  expect(receiver.sockets.size).toBe(1)
  await expect.poll(() => receiver.sockets.size, patience).toBe(0)
})

test('of the idle connections only so many are kept, the last used ones', async () => {
  const receivers = await Promise.all(Array.from({ length: 6 }, () => listen(answering(ok))))
  const out = outbound({ maxSockets: 2 })
  for (const { url } of receivers) await out.send(request(url))
  await expect
    .poll(() => receivers.map(({ sockets }) => sockets.size), { ...patience, interval: 10 })
    .toEqual([0, 0, 0, 0, 1, 1])
})

test('requests that wait get a connection even when others fail', async () => {
  let count = 0
  const receiver = await listen(onRequest(socket => (++count % 2 ? socket.destroy() : socket.write(ok))))
  const out = outbound()
  const answers = await Promise.all(Array.from({ length: 60 }, () => out.send(request(receiver.url))))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(30)
  expect(answers.filter(({ failure }) => failure === 'no_connection')).toHaveLength(30)
  expect(count).toBe(60)
})

test('it sends from the address that the operator has published', async () => {
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
    words: 'it has no address of the kind that we send from',
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
