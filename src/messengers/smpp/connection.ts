import { createRequire } from 'node:module'
import type { Socket } from 'node:net'

// The package `smpp` ships no types; these cover its PDUs, encodings and status codes. Its sessions are not used: they
// have no timeouts, and one unreadable PDU stops them for good.
export type Pdu = {
  command: string
  command_status: number
  sequence_number: number
  isResponse(): boolean
  response(fields?: PduFields): Pdu
  toBuffer(): Buffer
  readonly [field: string]: unknown
}
export type PduFields = Readonly<Record<string, string | number | Buffer>>

type SmppLibrary = {
  PDU: new (command: string | Buffer, fields?: PduFields) => Pdu
  encodings: Record<'ASCII' | 'UCS2', { match(text: string): boolean; encode(text: string): Buffer }>
  errors: Readonly<Record<string, number>>
}

const { PDU, encodings, errors } = createRequire(import.meta.url)('smpp') as SmppLibrary
export { encodings, errors }

const errorNames = new Map(Object.entries(errors).map(([name, code]) => [code, name]))

export const statusName = (status: number) =>
  errorNames.get(status) ?? `0x${status.toString(16).padStart(8, '0')}`

const minPduBytes = 16
const maxPduBytes = 16 * 1024
const maxPending = 1000 // requests without a response
const maxUnsentBytes = 256 * 1024 // in the socket's buffer
const gracefulCloseMs = 500
const deliverSm = 5

export type SmppConnection = {
  request(command: string, fields?: PduFields): Promise<Pdu> // no timeout; rejected when the connection ends
  end(reason: string): void
  readonly ended: Promise<string> // the reason
  readonly isOpen: boolean
}

// Requests and responses over a socket. No input makes it throw: bytes that are not SMPP end the connection. A PDU that
// cannot be decoded is answered, because the server would send it again and again otherwise.
export function openSmppConnection(socket: Socket, onPdu: (pdu: Pdu) => void): SmppConnection {
  const pending = new Map<number, { resolve(pdu: Pdu): void; reject(error: Error): void }>()
  const frames = createFrameReader()
  const { promise: ended, resolve: resolveEnded } = promiseWithResolve<string>()
  let sequence = 0
  let isOpen = true

  function end(reason: string) {
    if (!isOpen) return
    isOpen = false
    socket.end() // flushes what is written
    setTimeout(() => socket.destroy(), gracefulCloseMs).unref()
    resolveEnded(reason)
    for (const { reject } of pending.values()) reject(new Error(reason))
    pending.clear()
  }

  function request(command: string, fields: PduFields = {}): Promise<Pdu> {
    if (pending.size >= maxPending) end('Too many requests have no response.')
    if (!isOpen) return Promise.reject(new Error('The connection is lost.'))
    sequence = (sequence % 0x7fffffff) + 1
    const sequence_number = sequence
    const response = new Promise<Pdu>((resolve, reject) => pending.set(sequence_number, { resolve, reject }))
    socket.write(new PDU(command, { ...fields, sequence_number }).toBuffer())
    return response
  }

  function handleFrame(frame: Buffer) {
    const pdu = decode(frame)
    if (!pdu) return respond(responseToUnreadable(frame))
    onPdu(pdu)
    if (!pdu.isResponse()) return handleRequest(pdu) // each side has its own sequence numbers
    pending.get(pdu.sequence_number)?.resolve(pdu)
    pending.delete(pdu.sequence_number)
  }

  function handleRequest(pdu: Pdu) {
    respond(answered.has(pdu.command) ? pdu.response() : undefined)
    if (pdu.command === 'unbind') end('The SMS centre has unbound.')
    if (socket.writableLength > maxUnsentBytes) end('The SMS centre does not read our responses.')
  }

  const respond = (pdu: Pdu | undefined) => void (pdu && isOpen && socket.write(pdu.toBuffer()))

  socket.on('data', (chunk: Buffer) => {
    if (isOpen) frames.add(chunk)
    while (isOpen) {
      const frame = frames.next()
      if (frame === 'invalid') return end('The server does not speak SMPP.')
      if (!frame) return
      handleFrame(frame)
    }
  })
  socket.on('error', error => end(error.message))
  socket.on('close', () => end('The connection is lost.'))

  return {
    request,
    end,
    ended,
    get isOpen() {
      return isOpen
    },
  }
}

function promiseWithResolve<T>() {
  let resolve!: (value: T) => void
  const promise = new Promise<T>(resolvePromise => {
    resolve = resolvePromise
  })
  return { promise, resolve }
}

// Splits the byte stream into frames of one PDU each.
function createFrameReader() {
  let rest = Buffer.alloc(0)
  return {
    add(chunk: Buffer) {
      rest = Buffer.concat([rest, chunk])
    },
    // Undefined until the next frame is complete.
    next(): Buffer | 'invalid' | undefined {
      if (rest.length < 4) return undefined
      const length = rest.readUInt32BE(0)
      if (length < minPduBytes || length > maxPduBytes) return 'invalid'
      if (rest.length < length) return undefined
      const frame = rest.subarray(0, length)
      rest = rest.subarray(length)
      return frame
    },
  }
}

function decode(frame: Buffer): Pdu | undefined {
  try {
    return new PDU(Buffer.from(frame))
  } catch {
    return undefined
  }
}

const answered = new Set(['enquire_link', 'unbind', 'deliver_sm', 'data_sm', 'unknown'])

function responseToUnreadable(frame: Buffer): Pdu | undefined {
  const command = frame.readUInt32BE(4)
  const sequence_number = frame.readUInt32BE(12)
  if (command & 0x80000000) return undefined // a response: its request runs into its timeout
  if (command === deliverSm) return new PDU('deliver_sm_resp', { sequence_number })
  return new PDU('generic_nack', { sequence_number, command_status: errors.ESME_RINVCMDLEN as number })
}
