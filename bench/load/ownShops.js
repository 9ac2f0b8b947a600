// The shops' endpoints run in the process of their customers, which then see at once that the shop was notified.
import { createServer } from 'node:net'
import { listen } from '../endpoints/listen.js'
import { readRequests, webhookId } from '../endpoints/readRequests.js'

const thanks = Buffer.from('HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok')
const patienceMs = 60_000

let times = new Map() // how often each notification came, by its id
const waiting = new Map()
let requests = 0

const serve = socket =>
  readRequests(socket, request => {
    const id = webhookId(request)
    requests++
    times.set(id, (times.get(id) ?? 0) + 1)
    socket.write(thanks)
    waiting.get(id)?.()
  })

const open = () => listen(createServer({ noDelay: true }, serve))

// What the parent may ask beside the work; undefined when it does not.
export const answerOf = {
  open: ({ count }) => Promise.all(Array.from({ length: count }, open)), // returns their ports
  count: () => Promise.resolve({ told: times.size, toldTwice: requests - times.size }),
}

export function forget() {
  times = new Map()
  requests = 0
}

// Until the first notification of it has arrived.
/** @type {(id: string) => Promise<void>} */
export const told = id =>
  new Promise((resolve, reject) => {
    if (times.has(id)) return resolve()
    const late = setTimeout(() => reject(new Error(`The shop was not told of ${id} in time.`)), patienceMs)
    waiting.set(id, () => {
      clearTimeout(late)
      waiting.delete(id)
      resolve()
    })
  })
