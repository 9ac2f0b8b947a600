// A connection that asks and waits. It speaks just enough HTTP, so that it takes little of the shared machine.
import { once } from 'node:events'
import { connect } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { errorOf } from './starved.js'

export const anyStatus = ''

const addresses = 250
let opened = 0

// Each from another address of this machine, one after the other, as customers do: the gateway counts visits of pages by
// address, and many connections from one address would measure that limit.
function nextAddress() {
  opened++
  return `127.0.1.${1 + (opened % addresses)}`
}

// Any answer but the wanted one ends the round, unless any status is wanted.
/** @param {number} port */
export async function openConnection(port) {
  const socket = connect({ port, host: '127.0.0.1', localAddress: nextAddress(), noDelay: true })
  await once(socket, 'connect')
  let waiting
  let read
  socket.on('data', chunk => {
    read = read ? Buffer.concat([read, chunk]) : chunk
    const length = answerLength(read)
    if (length === undefined || read.length < length) return
    const { resolve, reject, wanted } = waiting
    const answer = read
    read = undefined
    const isWanted = wanted === anyStatus || answer.latin1Slice(9, 12) === wanted
    if (isWanted && answer.length === length) resolve(answer)
    else reject(errorOf(`The gateway answered: ${shown(answer)}`))
  })
  socket.on('error', error => waiting?.reject(error))
  socket.on('close', () => waiting?.reject(new Error('The gateway closed a connection.')))
  return {
    // Returns the whole answer as bytes.
    ask: (request, wanted = '200') =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject, wanted }
        socket.write(request)
      }),
    close: () => socket.destroy(),
  }
}

// Head and body together; undefined while they are not whole.
function answerLength(bytes) {
  const bodyAt = bodyStart(bytes)
  if (bodyAt === undefined) return undefined
  const head = bytes.latin1Slice(0, bodyAt)
  const length = /^content-length: *(\d+)/im.exec(head)?.[1]
  if (length !== undefined) return bodyAt + Number(length)
  if (isChunked(head)) return chunksOf(bytes, bodyAt)?.end
  throw new Error(`An answer without content-length: ${bytes.toString()}`)
}

function bodyStart(bytes) {
  const headEnd = bytes.indexOf('\r\n\r\n')
  return headEnd < 0 ? undefined : headEnd + 4
}

const isChunked = head => /^transfer-encoding: *chunked/im.test(head)

// A size in hexadecimal digits before each chunk; the last has the size 0.
function chunksOf(bytes, bodyAt) {
  const chunks = []
  for (let at = bodyAt; at < bytes.length; ) {
    const sizeEnd = bytes.indexOf('\r\n', at)
    if (sizeEnd < 0) return undefined
    const size = Number.parseInt(bytes.latin1Slice(at, sizeEnd), 16)
    chunks.push(bytes.subarray(sizeEnd + 2, sizeEnd + 2 + size))
    at = sizeEnd + 2 + size + 2
    if (size === 0) return { chunks, end: at }
  }
  return undefined
}

// An answer taken apart: what was sent, and what it means.
export function readAnswer(bytes) {
  const bodyAt = bodyStart(bytes)
  const head = bytes.latin1Slice(0, bodyAt)
  const sent = isChunked(head) ? Buffer.concat(chunksOf(bytes, bodyAt)?.chunks ?? []) : bytes.subarray(bodyAt)
  const zipped = /^content-encoding: *gzip/im.test(head)
  return {
    headers: head.trim().split('\r\n').slice(1).map(readHeader),
    headBytes: bodyAt,
    bodyBytes: bytes.length - bodyAt, // as transferred
    sent,
    text: (zipped ? gunzipSync(sent) : sent).toString(),
  }
}

const shown = bytes => bytes.latin1Slice(0, bodyStart(bytes)) + readAnswer(bytes).text

const readHeader = line => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]
