import { type IncomingHttpHeaders, request } from 'node:http'

export type Got = { http: number; headers: IncomingHttpHeaders; text: string }

// Not by fetch: it lets nobody choose the Host header, nor how a path is written.
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
