import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
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
export type Mischief = (typeof mischiefs)[number]

export type Line = {
  url: string
  mischief?: Mischief
  rewrite?: (text: string) => string // the provider's own answer, in other words
  stop(): Promise<void>
}

// Stands between a channel and its provider.
export async function openLine(target: string): Promise<Line> {
  const server = createServer((incoming, outgoing) => void pass(incoming, outgoing))
  await once(server.listen(0, '127.0.0.1'), 'listening')

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse) {
    const { mischief, rewrite = (text: string) => text } = line
    const answer = await forward(target, incoming)
    const type = answer.headers.get('content-type') ?? ''
    const said = await answer.text()
    const text = type.includes('json') ? rewrite(said) : said // a provider may call back on the same line
    if (mischief) return misbehave(mischief, outgoing, text)
    outgoing.writeHead(answer.status, { 'content-type': type }).end(text)
  }

  const line: Line = {
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

async function forward(target: string, incoming: IncomingMessage) {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const own = ['host', 'connection', 'content-length', 'transfer-encoding'] // each connection's
  const headers = Object.entries(incoming.headers).filter(([name]) => !own.includes(name))
  return fetch(target + incoming.url, {
    method: incoming.method,
    headers: Object.fromEntries(headers) as Record<string, string>,
    body: chunks.length > 0 ? Buffer.concat(chunks) : undefined,
    redirect: 'manual',
  })
}

const json = { 'content-type': 'application/json' }

function misbehave(mischief: Mischief, outgoing: ServerResponse, text: string) {
  if (mischief === 'cut') outgoing.destroy()
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
