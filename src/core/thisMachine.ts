// Loopback, as it is written in HOST, in an address or in a Host header. Spellings that nobody uses are not loopback:
// then a token is asked for.
export const isLoopbackName = (host: string) => /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host)

type Reach = { HOST: string; TOLLGATE_BASE_URL?: string; TOLLGATE_TRUST_PROXY: number }

// Whether nobody but this machine reaches the gateway. A proxy on the machine may speak for the whole world and not say
// so; the settings tell that there is one, because checkout addresses would be wrong without them. Everything that is
// open to this machine for being this machine goes by this.
export const onlyThisMachineReaches = ({ HOST, TOLLGATE_BASE_URL, TOLLGATE_TRUST_PROXY }: Reach) =>
  isLoopbackName(HOST) && TOLLGATE_BASE_URL === undefined && TOLLGATE_TRUST_PROXY === 0

type Door = { token?: string; isForThisMachineOnly: boolean }

// Whom a door of the operator's opens to. Where there is a token it is asked of everybody, this machine included.
export const opensTo = ({ token, isForThisMachineOnly }: Door): 'token' | 'this_machine' | 'nobody' =>
  token !== undefined ? 'token' : isForThisMachineOnly ? 'this_machine' : 'nobody'

// Where a gateway is found that listens there.
export function urlOf(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}
