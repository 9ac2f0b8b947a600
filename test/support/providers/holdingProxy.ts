import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

// An HTTP proxy that holds what a test selects: a request before it is forwarded (`asked`), or a reply before it is
// returned (`taken`).
export type Moment = 'asked' | 'taken'
export type Passing = { method: string; path: string; text: string }
export type Stopped = {
  reached: Promise<unknown> // the first one is held
  letGo(): Promise<void> // forwards them; ends when they have arrived
}

export type HoldingProxy = {
  url: string
  target: string
  stop(moment: Moment, which: (passing: Passing) => boolean): Stopped // this one and all later ones
  stopNoMore(): void // held ones stay held
  close(): Promise<void>
}

type Watch = {
  moment: Moment
  which(passing: Passing): boolean
  came(): unknown
  open: Promise<unknown>
  held: Promise<void>[]
}

export async function openHoldingProxy(target: string): Promise<HoldingProxy> {
  const watches = new Set<Watch>()
  const server = createServer((incoming, outgoing) => {
    const passed: Promise<void> = pass(incoming, outgoing, () => passed).catch(() => void outgoing.destroy()) // one of the two ends is closed
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse, itself: () => Promise<void>) {
    const body = await read(incoming)
    const passing = { method: incoming.method ?? '', path: incoming.url ?? '', text: String(body) }
    await stopAt('asked', passing, itself)
    const answer = await forward(gate.target, incoming, body)
    const said = await read(answer)
    await stopAt('taken', passing, itself)
    const { statusCode = 502, headers } = answer
    outgoing.writeHead(statusCode, withoutHops(headers)).end(said)
    if (!outgoing.destroyed) await Promise.race([once(outgoing, 'finish'), once(outgoing, 'close')])
  }

  async function stopAt(moment: Moment, passing: Passing, itself: () => Promise<void>) {
    const watch = [...watches].find(one => one.moment === moment && one.which(passing))
    if (!watch) return
    watch.held.push(itself())
    watch.came()
    await watch.open
  }

  const gate: HoldingProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target,
    stop(moment, which) {
      const bell = new EventEmitter()
      const [reached, open] = [once(bell, 'came'), once(bell, 'go')]
      const watch: Watch = { moment, which, came: () => bell.emit('came'), open, held: [] }
      watches.add(watch)
      const letGo = async () => {
        watches.delete(watch)
        bell.emit('go')
        await Promise.all(watch.held)
      }
      return { reached, letGo }
    },
    stopNoMore: () => watches.clear(),
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
  return gate
}

const hops = ['host', 'connection', 'keep-alive', 'content-length', 'transfer-encoding'] // hop-by-hop headers

const withoutHops = (headers: IncomingMessage['headers']) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !hops.includes(name)))

async function forward(target: string, incoming: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
  const { method = 'GET', url = '' } = incoming
  const length = method === 'GET' ? {} : { 'content-length': body.length }
  const headers = { ...withoutHops(incoming.headers), ...length }
  const outgoing = request(target + url, { method, headers, agent: false })
  outgoing.end(body)
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
  return answer
}

async function read(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
