import { once } from 'node:events'
import { type IncomingHttpHeaders, request } from 'node:http'
import { connect, type Socket } from 'node:net'

// A raw connection, for bytes that fetch would never send.
export type RawSocket = {
  socket: Socket
  heard(): string
  answers(): Answered[]
  errors: string[]
  ended: Promise<unknown> // the connection is closed, by either side
}

type Answered = { http: number; closes: boolean }

export async function dial(url: string): Promise<RawSocket> {
  const { port, hostname } = new URL(url)
  const socket = connect({ port: Number(port), host: hostname, noDelay: true })
  const chunks: string[] = []
  const errors: string[] = []
  socket.on('data', chunk => chunks.push(chunk.toString('latin1')))
  socket.on('error', (error: NodeJS.ErrnoException) => errors.push(error.code ?? error.message))
  const ended = new Promise(resolve => socket.on('close', resolve))
  await once(socket, 'connect')
  const heard = () => chunks.join('')
  return { socket, heard, answers: () => answersIn(heard()), errors, ended }
}

export const get = (path: string, ...headers: string[]) =>
  [`GET ${path} HTTP/1.1`, 'host: here', ...headers, '', ''].join('\r\n')

// The complete answers, in order.
function answersIn(text: string) {
  const answers: Answered[] = []
  for (let at = 0; ; ) {
    const end = text.indexOf('\r\n\r\n', at) + 4
    const head = text.slice(at, end)
    at = end + Number(/^content-length: (\d+)\r$/im.exec(head)?.[1] ?? 0)
    if (end < 4 || at > text.length) return answers
    answers.push({ http: Number(head.slice(9, 12)), closes: /^connection: close\r$/im.test(head) })
  }
}

export type Got = { http: number; headers: IncomingHttpHeaders; text: string }

// Not by fetch, which does not let a caller set the Host header or keep a path as written.
export const ask = (url: string, headers: Record<string, string> = {}, path?: string, method = 'GET') =>
  new Promise<Got>((resolve, reject) => {
    const asked = request(url, { headers, method, ...(path !== undefined && { path }) }, answer => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', chunk => (text += String(chunk)))
      answer.on('end', () => resolve({ http: answer.statusCode ?? 0, headers: answer.headers, text }))
    })
    asked.on('error', reject).end()
  })

export const basic = (pair: string) => ({
  authorization: `Basic ${Buffer.from(pair).toString('base64')}`,
})

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
