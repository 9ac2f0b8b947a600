import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Hono } from 'hono'
import { afterEach, expect, test } from 'vitest'
import type { Env } from '../../../src/web/http/context.ts'
import { type Listening, listen } from '../../../src/web/server/server.ts'
import { dial, get, type RawSocket } from '../../support/gateway/rawHttp.ts'

// The server with a handler that answers when the test calls it.
type Held = { incoming: IncomingMessage; outgoing: ServerResponse }
let server: Listening | undefined
afterEach(async () => {
  await server?.stop()
  server = undefined
})

const stallMs = 2000 // reader and server are one process here, which a loaded machine stops for a while

async function serve(answer: (held: Held) => void, patience = stallMs) {
  const listening = (server = await listen('127.0.0.1', 0, { stallMs: patience }))
  const take = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    answer({ incoming, outgoing })
    return true
  }
  listening.serve(take, new Hono<Env>(), () => {}, '')
  return { listening, url: `http://127.0.0.1:${listening.port}` }
}

const ok = ({ outgoing }: Held) => outgoing.writeHead(200, { 'content-length': 2 }).end('ok')

// An answer on another connection: by then, everything sent before it has been read if it is read at all.
async function fence(url: string) {
  const other = await dial(url)
  other.socket.write(get('/fence', 'connection: close'))
  await other.ended
}

const answered = (client: RawSocket, count: number) => expect.poll(() => client.answers().length).toBe(count)

test('a connection with eight unanswered requests is not read until they are answered', async () => {
  const held: Held[] = []
  const { url } = await serve(each => (each.incoming.url === '/fence' ? ok(each) : held.push(each)))
  const client = await dial(url)
  for (let n = 1; n <= 12; n++) {
    client.socket.write(get(`/${n}`))
    await fence(url)
    expect(held.length).toBe(Math.min(n, 8))
  }
  for (const each of held.splice(0)) ok(each)
  await expect.poll(() => held.length).toBe(4)
  for (const each of held) ok(each)
  await answered(client, 12)
  expect(client.answers().every(({ http, closes }) => http === 200 && !closes)).toBe(true)
  client.socket.destroy()
})

test('the body of the eighth is read when the first seven are answered', async () => {
  const held: Held[] = []
  let body = ''
  const { url } = await serve(each => {
    held.push(each)
    if (each.incoming.method !== 'POST') return
    each.incoming.on('data', chunk => (body += String(chunk)))
    each.incoming.on('end', () => ok(each))
  })
  const client = await dial(url)
  client.socket.write(get('/').repeat(7))
  await expect.poll(() => held.length).toBe(7)
  client.socket.write('POST / HTTP/1.1\r\nhost: here\r\ncontent-length: 10\r\n\r\n12345')
  await expect.poll(() => held.length).toBe(8)
  client.socket.write('67890')
  for (const each of held.slice(0, 7)) ok(each)
  await answered(client, 8)
  expect(body).toBe('1234567890')
  client.socket.destroy()
})

test('what was read beyond eight is refused in its turn, and the rest is not worked on', async () => {
  const held: Held[] = []
  const { url } = await serve(each => held.push(each))
  const client = await dial(url)
  client.socket.write(get('/').repeat(20_000)) // most of it is never read
  await expect.poll(() => held.length).toBe(8)
  expect(client.answers()).toEqual([])
  for (const each of held) ok(each)
  await client.ended
  expect(client.answers().map(({ http }) => http)).toEqual([200, 200, 200, 200, 200, 200, 200, 200, 429])
  expect(
    client
      .answers()
      .map(({ closes }) => closes)
      .indexOf(true),
  ).toBe(8)
  expect(client.errors).toEqual([]) // no reset, though we left unread what it sent
  expect(held.length).toBe(8)
})

const large = Buffer.alloc(24_000_000)
const sendLarge = ({ outgoing }: Held) =>
  outgoing.writeHead(200, { 'content-length': large.length }).end(large)

test('a client that stops reading is dropped, and a slow one is not', {
  timeout: 120_000,
}, async () => {
  const dropped: string[] = []
  const patience = 3000 // the slow one is no slower than it means to be, unless the machine stands still for so long
  const { url } = await serve(each => {
    each.incoming.socket.on('close', () => dropped.push(each.incoming.url ?? ''))
    sendLarge(each)
  }, patience)
  const [stalled, slow] = [await dial(url), await dial(url)]
  stalled.socket.pause()
  let bytes = 0
  let pauseAt = 0
  slow.socket.removeAllListeners('data').on('data', chunk => {
    bytes += chunk.length
    if (bytes < pauseAt) return
    pauseAt += 400_000
    slow.socket.pause()
    setTimeout(() => slow.socket.resume(), 110)
  })
  stalled.socket.write(get('/stalled'))
  slow.socket.write(get('/slow'))
  const started = performance.now()
  await expect.poll(() => bytes, { timeout: 90_000 }).toBeGreaterThan(large.length)
  expect(performance.now() - started).toBeGreaterThan(2 * patience)
  expect(dropped).toEqual(['/stalled'])
  slow.socket.destroy()
})

test('a connection may be idle, and a handler may take its time, for longer than a reader may stall', async () => {
  const held: Held[] = []
  const { url } = await serve(each => (each.incoming.url === '/slow' ? held.push(each) : ok(each)))
  const [idle, waiting] = [await dial(url), await dial(url)]
  idle.socket.write(get('/'))
  waiting.socket.write(get('/slow'))
  await answered(idle, 1)
  await sleep(3 * stallMs)
  idle.socket.write(get('/'))
  for (const each of held) ok(each)
  await Promise.all([answered(idle, 2), answered(waiting, 1)])
  for (const client of [idle, waiting]) client.socket.destroy()
})
