import { readUrl } from './text.ts'

// An HTTP proxy that opens tunnels by CONNECT.
export type ProxyServer = { host: string; port: number; authorization: string | undefined }

// Reads every proxy setting: `TOLLGATE_EGRESS_PROXY`, `TOLLGATE_PROVIDER_EGRESS_PROXY` and the `egress_proxy` of a
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

// User and password may be percent-encoded, the colon between them never is.
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

// A loopback host in HOST or in a URL. Only the usual spellings count.
export const isLoopbackName = (host: string) => /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host)

type Reach = {
  HOST: string
  TOLLGATE_BASE_URL?: string
  TOLLGATE_DASHBOARD_HOST?: string
  TOLLGATE_DASHBOARD_URL?: string
  TOLLGATE_TRUST_PROXY: number
}

// Whether, by the settings, only this machine reaches the gateway. It chooses defaults for development and never grants
// access, because a local proxy that no setting names may forward requests from anywhere.
export const onlyThisMachineReaches = (settings: Reach) =>
  isLoopbackName(settings.HOST) &&
  isLoopbackName(settings.TOLLGATE_DASHBOARD_HOST ?? settings.HOST) &&
  settings.TOLLGATE_BASE_URL === undefined &&
  settings.TOLLGATE_DASHBOARD_URL === undefined &&
  settings.TOLLGATE_TRUST_PROXY === 0

type DashboardAddress = {
  HOST: string
  PORT: number
  TOLLGATE_DASHBOARD_HOST?: string
  TOLLGATE_DASHBOARD_PORT?: number
}

// Where the dashboard listens. Undefined if it shares the address of the gateway.
export function ownDashboardAddress(settings: DashboardAddress): { host: string; port: number } | undefined {
  const { TOLLGATE_DASHBOARD_HOST: host, TOLLGATE_DASHBOARD_PORT: port } = settings
  if (host === undefined && port === undefined) return undefined
  return { host: host ?? settings.HOST, port: port ?? settings.PORT }
}

// The URL of a gateway that listens on this host.
export function listenUrl(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}
