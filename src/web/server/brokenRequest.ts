import type { Socket } from 'node:net'
import { newRequestId } from '../../runtime/ids.ts'
import { notCached } from '../http/apiRequest.ts'
import { plainAnswer } from '../http/errors.ts'
import { hangUp } from './sockets.ts'

// A request that is not HTTP, has too large a header or arrives too slowly still gets an answer with an id.
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket) {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const [status, words] = brokenRequests[error.code ?? ''] ?? [
    '400 Bad Request',
    'This is not a valid HTTP request.',
  ]
  const http = Number(status.slice(0, 3))
  answerOnce(socket, status, http === 431 ? 'GW-013' : 'GW-012', words)
}

// By default Node destroys the socket of a CONNECT request without an answer.
export function answerConnect(socket: Socket) {
  socket.on('error', () => socket.destroy())
  answerOnce(socket, '405 Method Not Allowed', 'method_not_allowed', 'This server is not a proxy.')
}

function answerOnce(socket: Socket, status: string, code: string, words: string) {
  const request_id = newRequestId()
  const { body } = plainAnswer(Number(status.slice(0, 3)), code, words, request_id)
  hangUp(
    socket,
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `x-request-id: ${request_id}\r\n${notCachedLines}connection: close\r\n\r\n${body}`,
  )
}

const notCachedLines = Object.entries(notCached)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('')

const brokenRequests: Record<string, [string, string]> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The request header is too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request came too slowly.'],
}
