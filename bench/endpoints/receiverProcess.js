// The merchants' side, in a separate process: endpoints that answer at once, never, or with an error. It keeps when
// each notification first came; those that keep, also its output.
import { createServer } from 'node:net'
import { nowMs } from '../load/moment.js'
import { answerAll } from './answering.js'
import { listen } from './listen.js'
import { readRequests, webhookId } from './readRequests.js'

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

const serve = kind => socket =>
  readRequests(socket, (request, cameAt) => {
    const id = webhookId(request)
    requests++
    if (!firstAt.has(id)) firstAt.set(id, cameAt)
    if (kind === 'keeping') keep(id, request.body)
    if (answers[kind]) socket.write(answers[kind])
  })

function keep(id, body) {
  const known = bodies.get(id)
  if (!known) bodies.set(id, Buffer.from(body))
  else if (!known.equals(body)) changed++
}

const open = kind => listen(createServer({ noDelay: true }, serve(kind)))

answerAll({
  open: kinds => Promise.all(kinds.map(open)),
  count: () => ({ at: nowMs(), requests, distinct: firstAt.size, changed }),
  arrivals: () => [...firstAt],
  forget() {
    firstAt = new Map()
    bodies = new Map()
    changed = 0
    requests = 0
  },
})
