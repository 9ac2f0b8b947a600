import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

// How an answer gets lost on its way. The provider has taken the request each time.
export const mischiefs = [
  'cut',
  'half',
  'error',
  'hang',
  'drip',
  'page',
  'endless',
  'redirect',
  'nothing',
] as const
export type Mischief = (typeof mischiefs)[number] | 'busy' | 'refused'

export type Line = {
  url: string
  mischief?: Mischief
  lost: number // answers, by mischief
  rewrite?: (text: string) => string // the provider's own answer, in other words
  stop(): Promise<void>
}

// Stands between a provider and its provider.
export async function openLine(target: string): Promise<Line> {
  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch(() => outgoing.destroy()) // the provider has gone
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse) {
    const { mischief, rewrite = (text: string) => text } = line
    const { status, type, text: said } = await forward(target, incoming)
    const text = type.includes('json') ? rewrite(said) : said // a provider may call back on the same line
    if (mischief) line.lost++
    if (mischief) misbehave(mischief, outgoing, text)
    else outgoing.writeHead(status, { 'content-type': type }).end(text)
  }

  const line: Line = {
    lost: 0,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      if (!server.listening) return
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
  return line
}

type Said = { status: number; type: string; text: string }

// On a connection of its own: one that was kept may be closed in the moment in which it is used.
async function forward(target: string, incoming: IncomingMessage): Promise<Said> {
  const body = await read(incoming)
  const own = ['host', 'connection', 'content-length', 'transfer-encoding'] // each connection's
  const headers = Object.fromEntries(Object.entries(incoming.headers).filter(([name]) => !own.includes(name)))
  const { method = 'GET', url = '' } = incoming
  const length = method === 'GET' ? {} : { 'content-length': body.length }
  const outgoing = request(target + url, { method, headers: { ...headers, ...length }, agent: false })
  outgoing.end(body)
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
  const { statusCode: status = 0, headers: said } = answer
  return { status, type: said['content-type'] ?? '', text: String(await read(answer)) }
}

async function read(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

const json = { 'content-type': 'application/json' }

function misbehave(mischief: Mischief, outgoing: ServerResponse, text: string) {
  if (mischief === 'cut') outgoing.destroy()
  if (mischief === 'busy') outgoing.writeHead(429, { ...json, 'retry-after': '7' }).end('{}')
  if (mischief === 'refused') outgoing.writeHead(401, json).end('{"message":"Access denied"}')
  if (mischief === 'error') outgoing.writeHead(502, json).end('{}')
  if (mischief === 'nothing') outgoing.writeHead(200, json).end()
  if (mischief === 'redirect') outgoing.writeHead(307, { location: 'http://127.0.0.1:1/' }).end()
  if (mischief === 'page')
    outgoing.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><h1>Back soon</h1>')
  if (mischief === 'half') {
    outgoing.writeHead(200, { ...json, 'content-length': text.length + 100 }).write(text)
    setTimeout(() => outgoing.destroy(), 20)
  }
  if (mischief === 'drip') repeat(outgoing, ' ', 100)
  if (mischief === 'endless') repeat(outgoing, ' '.repeat(16 * 1024), 1)
  // a hang is the absence of everything else
}

function repeat(outgoing: ServerResponse, text: string, everyMs: number) {
  outgoing.writeHead(200, json)
  const timer = setInterval(() => outgoing.write(text), everyMs)
  outgoing.on('close', () => clearInterval(timer))
}
