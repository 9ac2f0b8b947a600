import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { closedPort, isLocalName, isLoopbackAddress, whyNotPublic } from '../core/addressRules.ts'
import type { Endpoint, Guard } from './endpoint.ts'
import { NetworkError } from './networkError.ts'

// Names the kind of an address that no request may be sent to. The library behind `whyNotPublic` also reads octal,
// hexadecimal and short forms; a resolved address never has one.
export const whyForbidden = (address: string, allowLoopback: boolean): string | undefined =>
  isIP(address) === 0 ? 'not an IP address' : whyNotPublic(address, allowLoopback)

const dnsMs = 2000
const dnsTryMs = 700 // then the query is repeated, or sent to the next name server

type GuardedEndpoint = Pick<Endpoint, 'host' | 'port'> & { guard: Guard }

// All addresses of the endpoint, each of them checked. One forbidden address refuses the whole name, because a name that
// mixes public and private addresses is an attack or a mistake.
export async function guardedAddresses(
  endpoint: GuardedEndpoint,
  nameServers?: readonly string[],
): Promise<string[]> {
  const addresses = await addressesOf(endpoint.host, nameServers)
  for (const address of addresses) checkAddress(endpoint, address)
  return addresses
}

// The error names the kind of address, not the address: merchants must not learn addresses of the internal network.
export function checkAddress({ host, port, guard }: GuardedEndpoint, address: string) {
  const why = whyForbidden(address, guard.allowLoopback)
  const leads = isIP(host) === 0 ? 'leads to' : 'is'
  if (why !== undefined) throw new NetworkError('forbidden_address', `${host} ${leads} ${why}`)
  if (guard.loopbackOnly && !isLoopbackAddress(address))
    throw new NetworkError('forbidden_address', closedPort(port))
}

async function addressesOf(host: string, nameServers?: readonly string[]) {
  if (isIP(host) !== 0) return [host]
  if (isLocalName(host)) return ['127.0.0.1', '::1']
  return resolveName(host, nameServers)
}

// Queries the name servers directly: getaddrinfo has no deadline and blocks a thread while it waits. One resolver per
// query reads the system's settings again and can be cancelled without an effect on others.
async function resolveName(host: string, nameServers?: readonly string[]) {
  const resolver = new Resolver({ timeout: dnsTryMs, tries: 2 })
  if (nameServers) resolver.setServers(nameServers)
  const timer = setTimeout(() => resolver.cancel(), dnsMs)
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  clearTimeout(timer)
  const addresses = answers.flatMap(answer => (answer.status === 'fulfilled' ? answer.value : []))
  if (addresses.length > 0) return addresses
  throw new NetworkError('name_not_found', noAddress(host, answers.map(dnsCode)))
}

const dnsCode = (answer: PromiseSettledResult<unknown>) =>
  answer.status === 'rejected' ? String((answer.reason as NodeJS.ErrnoException).code) : 'ENODATA'

function noAddress(host: string, codes: string[]) {
  if (codes.includes('ENOTFOUND')) return `${host} does not exist`
  if (codes.every(code => code === 'ENODATA')) return `${host} has no address`
  const late = codes.some(code => code === 'ECANCELLED' || code === 'ETIMEOUT')
  return late
    ? `the name servers did not answer for ${host}`
    : `the name servers failed for ${host} (${codes.join(', ')})`
}
