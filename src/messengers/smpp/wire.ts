import type { Socket } from 'node:net'
import { type Fields, PDU, type Pdu } from './library.ts'

const minPduBytes = 16
const maxPduBytes = 16 * 1024
const maxOpen = 1000 // questions without an answer
const maxUnreadBytes = 256 * 1024 // of ours, by the other side
const partingMs = 500
const deliverSm = 5
const unreadable = 0x02 // ESME_RINVCMDLEN

export type Wire = {
  ask(command: string, fields?: Fields): Promise<Pdu> // however late; rejected when the wire ends
  end(words: string): void
  readonly ended: Promise<string>
  readonly live: boolean
}

// PDUs over a socket. Whatever comes in, nothing is thrown: what is no PDU at all ends the wire, and one that cannot be
// read is answered, or it would be sent to us again and again.
export function openWire(socket: Socket, hear: (pdu: Pdu) => void): Wire {
  const open = new Map<number, { resolve(pdu: Pdu): void; reject(error: Error): void }>()
  let sequence = 0
  let rest = Buffer.alloc(0)
  let live = true
  let endedWith!: (words: string) => void
  const ended = new Promise<string>(resolve => {
    endedWith = resolve
  })

  function end(words: string) {
    if (!live) return
    live = false
    socket.end() // what is written goes out first
    setTimeout(() => socket.destroy(), partingMs).unref()
    endedWith(words)
    for (const { reject } of open.values()) reject(new Error(words))
    open.clear()
  }

  function ask(command: string, fields: Fields = {}): Promise<Pdu> {
    if (open.size >= maxOpen) end('Too many questions have no answer.')
    if (!live) return Promise.reject(new Error('The connection is lost.'))
    sequence = (sequence % 0x7fffffff) + 1
    const asked = sequence
    const answer = new Promise<Pdu>((resolve, reject) => open.set(asked, { resolve, reject }))
    socket.write(new PDU(command, { ...fields, sequence_number: asked }).toBuffer())
    return answer
  }

  function take(pdu: Pdu) {
    hear(pdu)
    if (!pdu.isResponse()) return obey(pdu) // each side counts for itself: its number may be one of ours
    open.get(pdu.sequence_number)?.resolve(pdu)
    open.delete(pdu.sequence_number)
  }

  function obey(pdu: Pdu) {
    reply(answerTo(pdu))
    if (pdu.command === 'unbind') end('The other side has unbound.')
    if (socket.writableLength > maxUnreadBytes) end('The other side does not listen.')
  }

  const reply = (pdu: Pdu | undefined) => void (pdu && live && socket.write(pdu.toBuffer()))

  socket.on('data', (chunk: Buffer) => {
    if (!live) return
    rest = Buffer.concat([rest, chunk])
    while (live && rest.length >= 4) {
      const length = rest.readUInt32BE(0)
      if (length < minPduBytes || length > maxPduBytes) return end('The other side does not speak SMPP.')
      if (rest.length < length) return
      const frame = rest.subarray(0, length)
      rest = rest.subarray(length)
      const pdu = read(frame)
      if (pdu) take(pdu)
      else reply(excuseFor(frame))
    }
  })
  socket.on('error', error => end(error.message))
  socket.on('close', () => end('The connection is lost.'))

  return {
    ask,
    end,
    ended,
    get live() {
      return live
    },
  }
}

function read(frame: Buffer): Pdu | undefined {
  try {
    return new PDU(Buffer.from(frame))
  } catch {
    return undefined
  }
}

const answered = new Set(['enquire_link', 'unbind', 'deliver_sm', 'data_sm', 'unknown'])
const answerTo = (pdu: Pdu) => (answered.has(pdu.command) ? pdu.response() : undefined)

function excuseFor(frame: Buffer): Pdu | undefined {
  const command = frame.readUInt32BE(4)
  const sequence_number = frame.readUInt32BE(12)
  if (command & 0x80000000) return undefined // an answer: whoever asked waits until the deadline
  if (command === deliverSm) return new PDU('deliver_sm_resp', { sequence_number })
  return new PDU('generic_nack', { sequence_number, command_status: unreadable })
}
