// A provider in a separate process: it accepts an order, replies pending, receives the money half a second
// later, calls back at the address in the order, and replies paid to a poll. It records everything,
// to be compared with those of the gateway.
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { openConnection } from '../load/connection.js'
import { answerAll } from './answering.js'
import { listen } from './listen.js'
import { readRequests } from './readRequests.js'

const chargeMs = 500
const free = new Map() // kept connections to gateways, by port
let orders = new Map()
let asks = 0
let unheard = 0 // callbacks that were not answered with a yes

function serve(socket) {
  readRequests(socket, ({ head, body }) => {
    const [method, path] = head.split(' ', 2)
    if (method === 'POST') answer(socket, 202, take(JSON.parse(body)))
    else answer(socket, 200, tell(path.slice('/orders/'.length)))
  })
}

function answer(socket, http, said) {
  const text = JSON.stringify(said)
  socket.write(
    `HTTP/1.1 ${http} OK\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
  )
}

function take({ id, amount, currency, callback_url }) {
  const known = orders.get(id)
  if (known) known.starts++
  else {
    const order = { id, amount, currency, starts: 1, charges: 0 }
    orders.set(id, order)
    void charge(order, new URL(callback_url))
  }
  return { state: 'pending' }
}

function tell(id) {
  asks++
  const order = orders.get(id)
  if (!order) return { state: 'absent' }
  if (order.charges === 0) return { state: 'pending' }
  return { state: 'paid', order: id, amount: order.amount, currency: order.currency, reference: `P-${id}` }
}

async function charge(order, { port, pathname }) {
  await sleep(chargeMs)
  order.charges++
  const kept = free.get(port) ?? []
  free.set(port, kept)
  try {
    const connection = kept.pop() ?? (await openConnection(Number(port)))
    await connection.ask(`POST ${pathname} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n`)
    kept.push(connection)
  } catch {
    unheard++ // it is asked some time
  }
}

// Between two rounds a gateway may have closed what was kept.
function forget() {
  for (const connection of [...free.values()].flat()) connection.close()
  free.clear()
  orders = new Map()
  asks = 0
  unheard = 0
}

function count() {
  const all = [...orders.values()]
  return {
    orders: all.length,
    charged: all.filter(({ charges }) => charges === 1).length,
    sentAgain: all.filter(({ starts }) => starts > 1).length,
    asks,
    unheard,
  }
}

const open = () => listen(createServer({ noDelay: true }, serve))

answerAll({ open, count, forget })
