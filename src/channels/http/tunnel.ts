import http from 'node:http'
import { isIP, type Socket } from 'node:net'
import type { Egress } from '../../core/channel/channel.ts'
import { readUrl } from '../../core/text.ts'

// Which of our own addresses a connection leaves by. A name of the other side that has addresses of both families is
// looked up in the one that fits.
export const outOf = ({ address }: Egress = {}) =>
  address ? { localAddress: address, family: isIP(address) || undefined } : {}

// As a certificate or a lookup wants it.
export const hostOf = (url: URL) => url.hostname.replace(/^\[|\]$/g, '')

// A connection to where the address leads, through the proxy. The proxy learns the name and the port, no more.
export function openTunnel(url: URL, egress: Egress, signal: AbortSignal): Promise<Socket> {
  const { host, port, headers } = readProxy(egress.proxy ?? '')
  const target = `${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`
  return new Promise((resolve, reject) => {
    const request = http.request({
      ...outOf(egress),
      host,
      port,
      method: 'CONNECT',
      path: target,
      headers: { host: target, ...headers },
      agent: false,
    })
    const hangUp = () => {
      reject(signal.reason as Error)
      request.destroy()
    }
    signal.addEventListener('abort', hangUp)
    request.on('close', () => signal.removeEventListener('abort', hangUp))
    request.on('error', error => reject(new Error(`the proxy: ${error.message}`)))
    request.on('connect', ({ statusCode = 0 }, socket: Socket, head) => {
      if (statusCode < 200 || statusCode > 299) {
        socket.destroy()
        reject(new Error(`the proxy answered HTTP ${statusCode}`))
      } else {
        socket.unshift(head)
        resolve(socket)
      }
    })
    request.end()
  })
}

// The address may have a user and a password, so it never stands in the words for what is wrong with it.
function readProxy(proxy: string) {
  const url = readUrl(proxy)
  if (url?.protocol !== 'http:') throw new Error('the proxy: is no address that begins with http://')
  const who = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  const authorization = { 'proxy-authorization': `Basic ${Buffer.from(who).toString('base64')}` }
  return { host: hostOf(url), port: url.port || 80, headers: url.username ? authorization : {} }
}
