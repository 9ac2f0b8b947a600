import { request } from 'node:http'
import { request as secureRequest } from 'node:https'

export type CallbackRequest = { method?: string; headers?: Record<string, string>; body: string }

// Sends a callback. Returns the HTTP status, or 0 if there was no reply.
export function postCallback(
  url: string,
  { method = 'POST', headers, body }: CallbackRequest,
): Promise<number> {
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
