// Loopback, as it is written in HOST or in an address. Spellings that nobody uses are not loopback.
export const isLoopbackName = (host: string) => /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host)

type Reach = { HOST: string; TOLLGATE_BASE_URL?: string; TOLLGATE_TRUST_PROXY: number }

// Whether the settings say that nobody but this machine reaches the gateway. It is a default for development only: a
// proxy on the machine may speak for the whole world although no setting names it. No access depends on it.
export const onlyThisMachineReaches = ({ HOST, TOLLGATE_BASE_URL, TOLLGATE_TRUST_PROXY }: Reach) =>
  isLoopbackName(HOST) && TOLLGATE_BASE_URL === undefined && TOLLGATE_TRUST_PROXY === 0

// Where a gateway is found that listens there.
export function urlOf(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}
