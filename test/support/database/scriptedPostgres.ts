import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'

// A server that implements PostgreSQL's simple query protocol and answers each query as the test says, for replies that a
// real server cannot be made to give.
export type Answer = { tag: string; status?: 'I' | 'T' | 'E' } | { error: string; status?: 'I' | 'T' | 'E' }
export type ScriptedPostgres = { url: string; seen: string[]; connections: number; stop(): Promise<void> }

export async function startScripted(answer: (text: string, connection: number) => Answer) {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    const number = ++scripted.connections
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    let rest = Buffer.alloc(0)
    let isStarted = false
    socket.on('data', chunk => {
      rest = Buffer.concat([rest, chunk])
      for (;;) {
        const head = isStarted ? 1 : 0
        if (rest.length < head + 4) return
        const length = head + rest.readUInt32BE(head)
        if (rest.length < length) return
        const message = rest.subarray(0, length)
        rest = rest.subarray(length)
        if (!isStarted) socket.write(Buffer.concat([packet('R', Buffer.alloc(4)), keyData, ready('I')]))
        else if (message[0] === 0x51) {
          const text = message.toString('utf8', 5, length - 1)
          scripted.seen.push(text)
          socket.write(reply(text, answer(text, number)))
        }
        isStarted = true
      }
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  assert.ok(address && typeof address === 'object')
  const scripted: ScriptedPostgres = {
    url: `postgres://tollgate@127.0.0.1:${address.port}/tollgate?sslmode=disable`,
    seen: [],
    connections: 0,
    async stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
  return scripted
}

function packet(type: string, body: Buffer) {
  const head = Buffer.alloc(5)
  head.write(type, 'latin1')
  head.writeUInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

const ready = (status: string) => packet('Z', Buffer.from(status))
const text = (words: string) => Buffer.from(`${words}\0`)
const number = (value: number, bytes: 2 | 4) => {
  const buffer = Buffer.alloc(bytes)
  if (bytes === 2) buffer.writeInt16BE(value)
  else buffer.writeInt32BE(value)
  return buffer
}

const processId = 7
const keyData = packet('K', Buffer.concat([number(processId, 4), number(0, 4)]))

// The reply to the first query of a connection: no standby, not sharded, no pooler.
const column = (name: string, type = 16) =>
  Buffer.concat([
    text(name),
    number(0, 4),
    number(0, 2),
    number(type, 4),
    number(1, 2),
    number(-1, 4),
    number(0, 2),
  ])
const no = Buffer.concat([number(1, 4), Buffer.from('f')])
const introduction = Buffer.concat([
  packet('T', Buffer.concat([number(3, 2), column('standby'), column('sharded'), column('pid', 23)])),
  packet('D', Buffer.concat([number(3, 2), no, no, number(1, 4), text(String(processId)).subarray(0, 1)])),
  packet('C', text('SELECT 1')),
  ready('I'),
])

function reply(query: string, answer: Answer): Buffer {
  if (query.includes('pg_is_in_recovery')) return introduction
  const status = ready(answer.status ?? 'I')
  if ('tag' in answer) return Buffer.concat([packet('C', text(answer.tag)), status])
  const fields = [text('SERROR'), text(`C${answer.error}`), text('Mscripted'), Buffer.alloc(1)]
  return Buffer.concat([packet('E', Buffer.concat(fields)), status])
}
