import { isIP, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

// Public by the registries, but answered inside a cloud's own network: its metadata and agent services.
const clouds: ReadonlySet<string> = new Set(['168.63.129.16'])

// The words for people. What is missing here is called by the library's name; only 'unicast' ever passes.
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

// Says what kind of address it is when we must not speak to it. What is not plainly public is forbidden, so that a
// range that is set aside tomorrow is closed today.
export function whyForbidden(address: string, allowLoopback: boolean): string | undefined {
  // The library also reads octal, hexadecimal and short forms; a resolved address never looks like that.
  if (isIP(address) === 0) return 'not an IP address'
  if (address.includes('%')) return 'an address with a zone'
  const parsed = read(address)
  if (parsed.range() === 'loopback' && allowLoopback) return undefined
  return parsed instanceof ipaddr.IPv6 ? whyForbidden6(parsed) : whyForbidden4(parsed)
}

function whyForbidden4(address: ipaddr.IPv4) {
  if (clouds.has(address.toString())) return "a cloud's own address"
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

export const isLoopback = (address: string) => read(address).range() === 'loopback'

// A v4-mapped address is judged as the one that it maps. The library takes `::10.0.0.1` for a mapped one too, which it
// is not, so the dots are turned into hexadecimal before it sees them.
const read = (address: string) =>
  ipaddr.process(isIPv6(address) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address)
