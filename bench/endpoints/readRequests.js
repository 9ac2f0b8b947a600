// Just enough HTTP to take little of the shared machine.
import { nowMs } from '../load/moment.js'

// Calls back for each whole request of a connection; `cameAt` is when its first byte came.
export function readRequests(socket, take) {
  let read
  let cameAt
  socket.on('data', chunk => {
    if (!read) cameAt = nowMs()
    read = read ? Buffer.concat([read, chunk]) : chunk
    for (let request = takeRequest(read); request; request = read && takeRequest(read)) {
      read = request.rest
      take(request, cameAt)
    }
  })
  socket.on('error', () => {}) // the client may hang up
}

// One whole request from the beginning of the bytes; undefined while there is none.
function takeRequest(bytes) {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const head = bytes.latin1Slice(0, headEnd)
  const end = headEnd + 4 + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
  if (bytes.length < end) return undefined
  const body = bytes.subarray(headEnd + 4, end)
  return { head, body, rest: bytes.length > end ? bytes.subarray(end) : undefined }
}

export const webhookId = ({ head }) => /\r\nwebhook-id: *(\S+)/i.exec(head)?.[1]
