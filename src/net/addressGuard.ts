import { Resolver } from 'node:dns/promises'
import { isIP, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { closedPort, type Endpoint, type Guard } from './endpoint.ts'
import { NetworkError } from './networkError.ts'

// Public according to the registries, but served inside the network of a cloud: its metadata and agent services.
const clouds: ReadonlySet<string> = new Set(['168.63.129.16'])

// Names for error texts. A range that is missing here has the library's name; only 'unicast' passes.
const kinds: Record<string, string> = {
  unspecified: 'an unspecified address',
  broadcast: 'a broadcast address',
  multicast: 'a multicast address',
  linkLocal: 'a link-local address',
  loopback: 'a loopback address',
  carrierGradeNat: 'an address of a carrier network',
  private: 'a private address',
  uniqueLocal: 'a private address',
  deprecatedSiteLocal: 'a private address',
  reserved: 'a reserved address',
  discard: 'a discard address',
  rfc6145: 'an address that hides another one',
  rfc6052: 'an address that hides another one',
  '6to4': 'an address that hides another one',
  teredo: 'an address that hides another one',
}

const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')
const v4Compatible = ipaddr.IPv6.parseCIDR('::/96')

// Names the kind of an address that no request may be sent to. Everything but public unicast is forbidden, so that a
// range that is reserved later is already closed.
export function whyForbidden(address: string, allowLoopback: boolean): string | undefined {
  // The library also reads octal, hexadecimal and short forms; a resolved address never has one.
  if (isIP(address) === 0) return 'not an IP address'
  if (address.includes('%')) return 'an address with a zone'
  const parsed = read(address)
  if (parsed.range() === 'loopback' && allowLoopback) return undefined
  return parsed instanceof ipaddr.IPv6 ? whyForbidden6(parsed) : whyForbidden4(parsed)
}

function whyForbidden4(address: ipaddr.IPv4) {
  if (clouds.has(address.toString())) return 'an internal address of a cloud'
  return kindOf(address.range())
}

function whyForbidden6(address: ipaddr.IPv6) {
  const kind = kindOf(address.range())
  if (kind !== undefined) return kind
  if (address.match(v4Compatible)) return 'an address that hides another one'
  return address.match(globalUnicast) ? undefined : 'a reserved address'
}

const kindOf = (range: string) =>
  range === 'unicast' ? undefined : (kinds[range] ?? `a special address (${range})`)

const isLoopback = (address: string) => read(address).range() === 'loopback'

// A v4-mapped address is checked as the address that it maps. The library also takes `::10.0.0.1` for a mapped one, which
// it is not, so the dotted part is converted to hexadecimal first.
const read = (address: string) =>
  ipaddr.process(isIPv6(address) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address)

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
  if (guard.loopbackOnly && !isLoopback(address))
    throw new NetworkError('forbidden_address', closedPort(port))
}

async function addressesOf(host: string, nameServers?: readonly string[]) {
  if (isIP(host) !== 0) return [host]
  if (isLocalName(host)) return ['127.0.0.1', '::1']
  return resolveName(host, nameServers)
}

// Loopback by its name (RFC 6761). Name servers are not queried, because they might return another address.
const isLocalName = (host: string) => host === 'localhost' || host.endsWith('.localhost')

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
