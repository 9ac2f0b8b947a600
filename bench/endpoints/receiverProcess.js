// The merchants' side, in a process of its own: endpoints that answer at once, never, or with an error. It speaks just
// enough HTTP to take little of the shared machine, and keeps when each notification first came; those that keep, also
// what it said.
import { once } from 'node:events'
import { createServer } from 'node:net'
import { nowMs } from '../load/moment.js'

const answers = {
  ok: Buffer.from('HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok'),
  failing: Buffer.from('HTTP/1.1 500 Internal Server Error\r\ncontent-length: 4\r\n\r\noops'),
  hanging: undefined,
}
answers.keeping = answers.ok

let firstAt = new Map() // by webhook-id
let bodies = new Map()
let changed = 0 // came again and said something else
let requests = 0

function serve(kind) {
  const answer = answers[kind]
  return socket => {
    let read
    let cameAt
    socket.on('data', chunk => {
      if (!read) cameAt = nowMs()
      read = read ? Buffer.concat([read, chunk]) : chunk
      for (let request = takeRequest(read); request; request = read && takeRequest(read)) {
        read = request.rest
        requests++
        if (!firstAt.has(request.id)) firstAt.set(request.id, cameAt)
        if (kind === 'keeping') keep(request)
        if (answer) socket.write(answer)
      }
    })
    socket.on('error', () => {}) // whoever sends may hang up as it likes
  }
}

function keep({ id, body }) {
  const known = bodies.get(id)
  if (!known) bodies.set(id, Buffer.from(body))
  else if (!known.equals(body)) changed++
}

// One whole request from the beginning of the bytes; undefined while there is none.
function takeRequest(bytes) {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const head = bytes.latin1Slice(0, headEnd)
  const end = headEnd + 4 + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
  if (bytes.length < end) return undefined
  const id = /\r\nwebhook-id: *(\S+)/i.exec(head)?.[1]
  const body = bytes.subarray(headEnd + 4, end)
  return { id, body, rest: bytes.length > end ? bytes.subarray(end) : undefined }
}

async function open(kind) {
  const server = createServer({ noDelay: true }, serve(kind))
  await once(server.listen(0, '127.0.0.1', 1024), 'listening')
  return server.address().port
}

const asked = {
  open: kinds => Promise.all(kinds.map(open)),
  count: () => ({ at: nowMs(), requests, distinct: firstAt.size, changed }),
  arrivals: () => [...firstAt],
  forget() {
    firstAt = new Map()
    bodies = new Map()
    changed = 0
    requests = 0
  },
}

const answer = async ({ number, what, given }) => process.send({ number, answer: await asked[what](given) })

process.on('message', question => void answer(question))
process.on('disconnect', () => process.exit()) // the parent is gone
