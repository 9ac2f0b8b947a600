import { readUrl } from './text.ts'

// An HTTP proxy that opens tunnels by CONNECT.
export type ProxyServer = { host: string; port: number; authorization: string | undefined }

// The only reader of proxy settings: `TOLLGATE_EGRESS_PROXY`, `TOLLGATE_PROVIDER_EGRESS_PROXY` and the `egress_proxy` of a
// provider account. Undefined if the text is not such an address. It may contain a password, so it must not be repeated
// in an error.
export function readProxy(text: string): ProxyServer | undefined {
  const url = readUrl(text)
  if (url?.protocol !== 'http:') return undefined
  const credentials = decoded(`${url.username}:${url.password}`)
  if (credentials === undefined) return undefined
  const { username, hostname, port } = url
  url.username = ''
  url.password = ''
  if (url.href !== `${url.origin}/`) return undefined
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port) || 80,
    authorization: username ? `Basic ${Buffer.from(credentials).toString('base64')}` : undefined,
  }
}

// The colon between user and password is never encoded, and a colon inside of them may be.
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
