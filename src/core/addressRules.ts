import ipaddr from 'ipaddr.js'
import { readUrl } from './text.ts'
import type { UntrustedUrl } from './urlTrust.ts'

// Which untrusted addresses are called, as far as the text of the address decides it. `net/addressGuard.ts` applies the
// same rules to every address that a name resolves to.
export type AddressRules = {
  allowLoopback: boolean // loopback addresses too, on any port
  ports: readonly number[] // open in addition to `openPorts`
}

const openPorts: readonly number[] = [80, 443, 8443]
const maxNameLength = 253

export const closedPort = (port: number) => `port ${port} is not open; ${openPorts.join(', ')} are`

// `isOpen`: the port is open for every address. Otherwise it is open on loopback alone.
type Target = { url: URL; host: string; port: number; isOpen: boolean }

// Returns an error text if the address is not allowed, whatever its name resolves to. The URL parser has already turned
// every spelling of an IPv4 address (decimal, octal, hexadecimal, short, fullwidth) into the dotted one.
export function readTarget(text: UntrustedUrl, { allowLoopback, ports }: AddressRules): Target | string {
  const url = readUrl(text)
  if (!url) return 'this is not a web address'
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'only http and https addresses are served'
  if (url.username || url.password) return 'a user name or password in the address is not allowed'
  const host = url.hostname.replace(/^\[|\]$|\.$/g, '')
  if (!isHost(host)) return 'this is not a host name'
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  const isOpen = openPorts.includes(port) || ports.includes(port)
  return isOpen || allowLoopback ? { url, host, port, isOpen } : closedPort(port)
}

const isHost = (host: string) =>
  isAddress(host) || (host.length <= maxNameLength && /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(host))

// For the host of a parsed URL, which has only these two spellings of an address.
const isAddress = (host: string) => host.includes(':') || /^\d{1,3}(\.\d{1,3}){3}$/.test(host)

// Why no request is ever sent to the address. Undefined if one may be: the addresses of a name are known only when it is
// resolved, and then the guard checks them.
export function whyNeverCalled(text: UntrustedUrl, rules: AddressRules): string | undefined {
  const target = readTarget(text, rules)
  if (typeof target === 'string') return target
  const { host, port, isOpen } = target
  const isLocal = isLocalName(host)
  if (!isLocal && !isAddress(host)) return undefined
  const address = isLocal ? '127.0.0.1' : host
  const why = whyNotPublic(address, rules.allowLoopback)
  if (why !== undefined) return `${host} is ${why}`
  return isOpen || isLoopbackAddress(address) ? undefined : closedPort(port)
}

// Loopback by its name (RFC 6761). Name servers are not queried, because they might return another address.
export const isLocalName = (host: string) => host === 'localhost' || host.endsWith('.localhost')

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

// Names the kind of an IP address that no request may be sent to. Everything but public unicast is forbidden, so that a
// range that is reserved later is already closed.
export function whyNotPublic(address: string, allowLoopback: boolean): string | undefined {
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

export const isLoopbackAddress = (address: string) => read(address).range() === 'loopback'

// A v4-mapped address is checked as the address that it maps. The library also takes `::10.0.0.1` for a mapped one, which
// it is not, so the dotted part is converted to hexadecimal first.
const read = (address: string) =>
  ipaddr.process(address.includes(':') ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address)
