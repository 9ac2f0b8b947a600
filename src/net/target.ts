import { isIP } from 'node:net'

const openPorts: readonly number[] = [80, 443, 8443]
const maxNameLength = 253
const maxRemembered = 1000

// Where a request goes, read from an address that a stranger wrote.
export type Target = {
  origin: string
  authority: string // as the server is told it: the host, and the port where it is not the usual one
  secure: boolean
  host: string // a name or an IP address, without brackets and without the dot at the end
  port: number
  path: string
  allowLoopback: boolean
  loopbackOnly: boolean // its port is open on loopback alone
}

// Gives back the sentence that says what is wrong with the address. The URL parser has already turned every odd
// spelling of an IPv4 address (decimal, octal, hexadecimal, short, fullwidth) into the plain one.
function readTarget(text: string, allowLoopback: boolean, morePorts: readonly number[]): Target | string {
  const url = parse(text)
  if (!url) return 'this is not a web address'
  const secure = url.protocol === 'https:'
  if (!secure && url.protocol !== 'http:') return 'only http and https addresses are served'
  if (url.username || url.password) return 'a user name or password in the address is not allowed'
  const host = url.hostname.replace(/^\[|\]$|\.$/g, '')
  if (!isHost(host)) return 'this is not a host name'
  const port = Number(url.port || (secure ? 443 : 80))
  const open = openPorts.includes(port) || morePorts.includes(port)
  if (!open && !allowLoopback) return portWords(port)
  const path = url.pathname + url.search
  const { origin, host: authority } = url
  return { origin, authority, secure, host, port, path, allowLoopback, loopbackOnly: !open }
}

// Merchants are told many things at one address, and reading it costs a fifth of sending to it. What an address means
// depends on nothing but its text; where its name leads is asked anew with every connection.
export function rememberTargets(morePorts: readonly number[]) {
  const known = { open: new Map<string, Target>(), loopback: new Map<string, Target>() }

  function read(text: string, allowLoopback: boolean): Target | string {
    const targets = allowLoopback ? known.loopback : known.open
    const found = targets.get(text)
    if (found) return found
    const target = readTarget(text, allowLoopback, morePorts)
    if (typeof target === 'string') return target
    if (targets.size >= maxRemembered) targets.clear()
    targets.set(text, target)
    return target
  }

  return { read }
}

export const portWords = (port: number) => `port ${port} is not open; ${openPorts.join(', ')} are`

function parse(text: string) {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

const isHost = (host: string) =>
  isIP(host) !== 0 || (host.length <= maxNameLength && /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(host))

// Loopback by its name alone (RFC 6761); a name server is not asked, it might say something else.
export const isLocalName = (host: string) => host === 'localhost' || host.endsWith('.localhost')
