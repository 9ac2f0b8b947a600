import { Agent, type IncomingHttpHeaders, request } from 'node:http'

export type Asked = { method: string; address: string; headers: Record<string, string>; body?: Buffer }
export type Answered = { http: number; headers: IncomingHttpHeaders; type: string; text: string }

const agent = new Agent({ keepAlive: true, maxSockets: 8 })

// Not fetch, which mends what it sends: methods, addresses, headers.
export const send = (url: string, { method, address, headers, body }: Asked) =>
  new Promise<Answered>((resolve, reject) => {
    const length = body ? { 'content-length': String(body.length) } : {}
    const sent = request(url + address, { method, agent, headers: { ...headers, ...length } }, answer => {
      const chunks: Buffer[] = []
      answer.on('data', chunk => chunks.push(chunk))
      answer.on('error', reject)
      answer.on('end', () =>
        resolve({
          http: answer.statusCode ?? 0,
          headers: answer.headers,
          type: answer.headers['content-type']?.split(';')[0] ?? '',
          text: Buffer.concat(chunks).toString(),
        }),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
