import { request } from 'node:http'
import { request as secureRequest } from 'node:https'

export type Knock = { method?: string; headers?: Record<string, string>; body: string }

// What a provider sends to us. It does not mind whether anybody hears it: the status, or 0 where nobody answered.
export function knock(url: string, { method = 'POST', headers, body }: Knock): Promise<number> {
  return new Promise(resolve => {
    const length = { 'content-length': String(Buffer.byteLength(body)) }
    const ask = url.startsWith('https:') ? secureRequest : request
    const outgoing = ask(url, { method, headers: { ...headers, ...length }, agent: false }, answer => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
    outgoing.setTimeout(5000, () => outgoing.destroy())
    outgoing.on('error', () => resolve(0))
    outgoing.end(body)
  })
}
