import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:https'
import { createServer } from 'node:net'
import { join } from 'node:path'

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

// key.pem and fullchain.pem in the folder.
export function makeCertificate(folder: string) {
  const openssl = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=pay.example']
  const names = ['-addext', 'subjectAltName=DNS:pay.example']
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'fullchain.pem')]
  execFileSync('openssl', [...openssl, ...names, ...files], { stdio: 'ignore' })
}

export type ProxyAnswer = { http: number; text: string; headers: Record<string, unknown> }
export type AskOptions = { headers?: Record<string, string>; from?: string }

// A client of a proxy that serves pay.example on this port. It trusts every certificate.
export function openClient(port: number) {
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false })
  const ask = (method: string, path: string, body?: string, { headers, from }: AskOptions = {}) =>
    new Promise<ProxyAnswer>((resolve, reject) => {
      const sent = request(
        {
          host: '127.0.0.1',
          port,
          path,
          method,
          headers: { host: 'pay.example', 'content-type': 'application/json', ...headers },
          agent,
          localAddress: from,
        },
        answer => {
          let text = ''
          answer
            .on('data', chunk => (text += chunk))
            .on('end', () => resolve({ http: answer.statusCode ?? 0, text, headers: answer.headers }))
        },
      )
      sent.on('error', reject).end(body)
    })
  return { ask, close: () => agent.destroy() }
}
