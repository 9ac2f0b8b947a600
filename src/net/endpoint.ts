import { type AddressRules, readTarget } from '../core/addressRules.ts'
import { readUrl } from '../core/text.ts'
import type { OperatorUrl, UntrustedUrl } from '../core/urlTrust.ts'

const maxRemembered = 1000

// The destination of a request.
export type Endpoint = {
  origin: string
  authority: string // of the Host header: the host, and the port unless it is the default one
  secure: boolean
  host: string // a name or an IP address, without brackets
  port: number
  path: string
  guard: Guard | undefined // undefined: the operator chose the address
}

// What an untrusted address may lead to besides public addresses.
export type Guard = {
  allowLoopback: boolean
  loopbackOnly: boolean // its port is open on loopback alone
}

function readUntrusted(text: UntrustedUrl, rules: AddressRules): Endpoint | string {
  const target = readTarget(text, rules)
  if (typeof target === 'string') return target
  const { url, host, isOpen } = target
  return { ...endpointOf(url, host), guard: { allowLoopback: rules.allowLoopback, loopbackOnly: !isOpen } }
}

// Addresses that the operator chose have no guard, and any port.
export function operatorEndpoint(text: OperatorUrl): Endpoint | string {
  const url = readUrl(text)
  return url && isHttp(url)
    ? endpointOf(url, url.hostname.replace(/^\[|\]$/g, ''))
    : 'this is not an http or https address'
}

const isHttp = ({ protocol }: URL) => protocol === 'https:' || protocol === 'http:'

function endpointOf(url: URL, host: string): Endpoint {
  const secure = url.protocol === 'https:'
  return {
    origin: url.origin,
    authority: url.host,
    secure,
    host,
    port: Number(url.port || (secure ? 443 : 80)),
    path: url.pathname + url.search,
    guard: undefined,
  }
}

// Many notifications have the same address, and parsing it costs a fifth of sending a request. The result depends on nothing but
// the text; its host name is resolved again for every connection.
export function createEndpointCache(morePorts: readonly number[]) {
  const known = { open: new Map<string, Endpoint>(), loopback: new Map<string, Endpoint>() }

  function read(text: UntrustedUrl, allowLoopback: boolean): Endpoint | string {
    const endpoints = allowLoopback ? known.loopback : known.open
    const found = endpoints.get(text)
    if (found) return found
    const endpoint = readUntrusted(text, { allowLoopback, ports: morePorts })
    if (typeof endpoint === 'string') return endpoint
    if (endpoints.size >= maxRemembered) endpoints.clear()
    endpoints.set(text, endpoint)
    return endpoint
  }

  return { read }
}
