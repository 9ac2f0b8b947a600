import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { randomBelow } from '../random.ts'

// Where a connection is cut: before the statement reaches the server; while the server runs it; after the server has
// committed, before the reply; in the middle of the reply.
export const cuts = ['unsent', 'at work', 'unheard', 'half heard'] as const
export type Cut = (typeof cuts)[number]

export type PostgresProxy = {
  url: string
  onStatement: (text: string) => Cut | undefined // called for each statement; undefined lets it pass
  // Called for each completed statement with the server's command tag (INSERT 0 1). Set it before the gateway connects.
  onDone?: (text: string, tag: string) => void
  hold(): void // forwards nothing and refuses nothing
  release(): void
  delayMs: number // of every message of the gateway
  goDown(): Promise<void>
  comeUp(): Promise<void>
  stop(): Promise<void>
}

// A proxy between the gateway and PostgreSQL that parses the protocol and injects faults.
export async function startPostgresProxy(databaseUrl: string): Promise<PostgresProxy> {
  const { target, who, path } = addressIn(databaseUrl)
  const sockets = new Set<Socket>()
  let held = false
  const server = createServer({ noDelay: true }, client => {
    const upstream = connect(target)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      if (held) socket.pause()
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    }
    client.on('close', () => upstream.end()) // not destroyed: data that was already sent reaches the server
    upstream.on('close', () => client.destroy())
    relay(
      client,
      upstream,
      text => proxy.onStatement(text),
      () => proxy.delayMs,
    )
    if (proxy.onDone) tellDone(client, upstream, proxy.onDone)
  })
  const listen = async (port: number) => void (await once(server.listen(port, '127.0.0.1'), 'listening'))
  await listen(0)
  const address = server.address()
  assert.ok(address && typeof address === 'object')
  const { port } = address
  const goDown = async () => {
    const closed = server.listening && once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  const proxy: PostgresProxy = {
    url: `postgres://${who}@127.0.0.1:${port}${path}?sslmode=disable`,
    onStatement: () => undefined,
    delayMs: 0,
    hold() {
      held = true
      for (const socket of sockets) socket.pause()
    },
    release() {
      held = false
      for (const socket of sockets) socket.resume()
    },
    goDown,
    comeUp: () => listen(port),
    stop: goDown,
  }
  return proxy
}

// `host` is the folder of a socket, whose file name is fixed, or the name of a machine.
function addressIn(url: string) {
  const { host, port } = new Client({ connectionString: url })
  const [, who = '', path = ''] = /^postgres:\/\/([^@/]*)@[^/]*(\/[^?]*)/.exec(url) ?? []
  return { who, path, target: host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port } }
}

// Messages after which the server acts: sync, simple query, terminate, password, and the startup message.
const finalMessages = ['S', 'Q', 'X', 'p', '']
const copyMessages = ['d', 'c', 'f'] // the data of COPY, and its end

function relay(
  client: Socket,
  upstream: Socket,
  fateOf: (text: string) => Cut | undefined,
  delayMs: () => number,
) {
  const pass = inOrder(upstream, delayMs)
  const texts = new Map<string, string>() // of prepared statements, by name
  let said: Buffer[] = [] // the gateway's messages since the last of these
  let text = ''
  let cut: Cut | undefined
  const fromClient = splitMessages(true, (type, message) => {
    if (copyMessages.includes(type)) {
      pass(message)
      return
    }
    said.push(message)
    const [first = '', second = ''] = message.toString('utf8', 5).split('\0')
    if (type === 'P') texts.set(first, second)
    if (type === 'B') text = texts.get(second) ?? ''
    if (type === 'Q') text = first
    if (!finalMessages.includes(type)) return
    const fate = fateOf(text)
    cut ??= fate // pipelined statements behind it get the same fault
    if (cut !== 'unsent') pass(Buffer.concat(said))
    if (cut === 'unsent' || cut === 'at work') client.destroy()
    said = []
    text = ''
  })
  let answer: Buffer[] = []
  let isOver = false // nothing is forwarded after a cut
  const fromServer = splitMessages(false, (type, message) => {
    if (isOver) return
    if (cut) answer.push(message)
    else client.write(message)
    if (!cut || type !== 'Z') return
    isOver = true
    const whole = Buffer.concat(answer) // ReadyForQuery: the commit is done
    answer = []
    const heard = cut === 'half heard' ? 1 + randomBelow(whole.length - 1) : 0
    void heardThenCut(client, whole.subarray(0, heard))
  })
  client.on('data', fromClient)
  upstream.on('data', fromServer)
}

// A message that is delayed less than the one before it waits behind it.
function inOrder(upstream: Socket, delayMs: () => number) {
  const queue: Buffer[] = []
  return (message: Buffer) => {
    queue.push(message)
    const leave = () => void upstream.write(queue.shift() as Buffer)
    if (delayMs() > 0 || queue.length > 1) setTimeout(leave, delayMs())
    else leave()
  }
}

// Several statements may be on their way before the first is answered: answers come in their order. A simple query can
// have several answers; it counts as one.
function tellDone(client: Socket, upstream: Socket, done: (text: string, tag: string) => void) {
  const texts = new Map<string, string>() // of prepared statements, by name
  const asked: { text: string; isSimple?: boolean; isLast?: boolean; tag?: string }[] = []
  let text = ''
  client.on(
    'data',
    splitMessages(true, (type, message) => {
      const [first = '', second = ''] = message.toString('utf8', 5).split('\0')
      if (type === 'P') texts.set(first, second)
      if (type === 'B') text = texts.get(second) ?? ''
      if (type === 'E') asked.push({ text })
      if (type === 'Q') asked.push({ text: first, isSimple: true, isLast: true })
      if (type === 'S') asked.push({ text: '', isLast: true })
    }),
  )
  upstream.on(
    'data',
    splitMessages(false, (type, message) => {
      const [next] = asked
      if (type === 'C' && next) {
        next.tag = message.toString('utf8', 5, message.length - 1)
        if (!next.isSimple) done(asked.shift()?.text ?? '', next.tag)
      }
      if (type !== 'Z') return
      // After an error the rest up to the sync is passed over.
      for (let one = asked.shift(); one; one = one.isLast ? undefined : asked.shift())
        if (one.isSimple) done(one.text, one.tag ?? '')
    }),
  )
}

async function heardThenCut(client: Socket, part: Buffer) {
  client.write(part)
  await sleep(5) // so that the part does arrive
  client.destroy()
}

// PostgreSQL's messages: a letter, a length that counts itself, a body. The gateway's first has no letter.
function splitMessages(startsBare: boolean, take: (type: string, message: Buffer) => void) {
  let rest = Buffer.alloc(0)
  let bare = startsBare
  return (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const head = bare ? 0 : 1
      if (rest.length < head + 4) return
      const length = head + rest.readUInt32BE(head)
      if (rest.length < length) return
      const message = rest.subarray(0, length)
      rest = rest.subarray(length)
      const type = message.toString('latin1', 0, head)
      bare = false
      take(type, message)
    }
  }
}
