import type { IncomingMessage, ServerResponse } from 'node:http'
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import type { Env } from '../../src/web/http/context.ts'
import { listen } from '../../src/web/server/server.ts'
import { dial, get } from '../support/gateway/rawHttp.ts'

const soonMs = 8000 // before anything is cut by force

// A server whose answers are in the test's hands.
async function serve() {
  const held: ServerResponse[] = []
  const server = await listen('127.0.0.1', 0)
  const take = (_: IncomingMessage, outgoing: ServerResponse) => held.push(outgoing) > 0
  server.serve(take, new Hono<Env>(), () => {}, '')
  return { server, held, url: `http://127.0.0.1:${server.port}` }
}

const ok = (outgoing: ServerResponse) => outgoing.writeHead(200, { 'content-length': 2 }).end('ok')

test(
  'requests that were sent before anyone could know are answered, and the last says that it is the last',
  async () => {
    const { server, held, url } = await serve()
    const client = await dial(url)
    client.socket.write(get('/').repeat(2))
    await expect.poll(() => held.length).toBe(2)
    server.announceStop()
    client.socket.write(get('/'))
    await expect.poll(() => held.length).toBe(3)
    const stopped = server.stop()
    for (const outgoing of held.toReversed()) ok(outgoing) // in whatever order
    await Promise.all([client.ended, stopped])
    expect(client.answers().map(({ closes }) => closes)).toEqual([false, false, true])
    expect(client.errors).toEqual([])
  },
  soonMs,
)

test(
  'an answer that was on its way when the stop was told leaves whole, and its connection ends then',
  async () => {
    const { server, held, url } = await serve()
    const client = await dial(url)
    client.socket.write(get('/'))
    await expect.poll(() => held.length).toBe(1)
    held[0]?.writeHead(200, { 'content-length': 2 }).write('o')
    await expect.poll(client.heard).toContain('\r\no')
    const stopped = server.stop()
    await expect.poll(() => dial(url).then(() => 'open', String)).toContain('ECONNREFUSED')
    expect(client.socket.readyState).toBe('open')
    held[0]?.end('k')
    await Promise.all([client.ended, stopped])
    expect(client.answers()).toEqual([{ http: 200, closes: false }])
    expect(client.errors).toEqual([])
  },
  soonMs,
)

test(
  'who connected and said nothing, or waits between two requests, holds up no stop',
  async () => {
    const { server, held, url } = await serve()
    const [silent, idle] = [await dial(url), await dial(url)]
    idle.socket.write(get('/'))
    await expect.poll(() => held.length).toBe(1)
    held.forEach(ok)
    await expect.poll(() => idle.answers().length).toBe(1)
    await Promise.all([server.stop(), silent.ended, idle.ended])
    expect([...silent.errors, ...idle.errors]).toEqual([])
  },
  soonMs,
)

test(
  'whoever came before there was anything to serve does not hold up a start that fails',
  async () => {
    const server = await listen('127.0.0.1', 0)
    const client = await dial(`http://127.0.0.1:${server.port}`)
    client.socket.write(get('/'))
    await Promise.all([server.stop(), client.ended])
  },
  soonMs,
)
