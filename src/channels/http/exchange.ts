import http from 'node:http'
import https from 'node:https'

const maxAnswerBytes = 64 * 1024

export type Call = {
  method?: string
  headers?: Record<string, string>
  body?: string
  signal: AbortSignal // nobody waits any more
}
export type Answered = { http: number; text: string }

// One request and its answer. A redirect, an endless or a late answer: each is thrown. `leaving` is called before the
// first byte of the request is handed to the connection, and not before that is made and, by TLS, proven: whatever goes
// wrong without it, nothing has left. What is not a mere question has a connection of its own, because one that was kept
// may be closed by the other side in the moment in which it is used, and then nobody knows.
export function exchange(address: string, call: Call, leaving: () => void): Promise<Answered> {
  const { method = 'GET', headers, body, signal } = call
  const url = new URL(address)
  const isSecure = url.protocol === 'https:'
  const agent = method === 'GET' ? undefined : false
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const request = (isSecure ? https : http).request(url, { method, headers, agent })
    const leave = () => {
      leaving()
      request.end(body)
    }
    const hangUp = () => {
      reject(signal.reason as Error)
      request.destroy()
    }
    signal.addEventListener('abort', hangUp)
    request.on('close', () => signal.removeEventListener('abort', hangUp))
    request.on('socket', socket => {
      if (request.reusedSocket) leave()
      else socket.once(isSecure ? 'secureConnect' : 'connect', leave)
    })
    request.on('error', error => reject(withWords(error)))
    request.on('response', response => void read(response).then(resolve, reject))
  })
}

// Where several addresses were tried in vain, the words stand in each of them.
const withWords = (error: Error) =>
  error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error

async function read(response: http.IncomingMessage): Promise<Answered> {
  const { statusCode = 0 } = response
  if (statusCode >= 300 && statusCode < 400) {
    response.destroy()
    throw new Error(`HTTP ${statusCode}, which leads elsewhere`)
  }
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength
    if (bytes > maxAnswerBytes) throw new Error('the answer is too long') // which closes it
    chunks.push(chunk)
  }
  return { http: statusCode, text: Buffer.concat(chunks).toString() }
}
