import { isIPv4, isIPv6 } from 'node:net'
import { readUrl } from '../../core/text.ts'

export type ServerUrl = {
  protocol: string
  host: string
  port: number
  user: string
  password: string
  query: URLSearchParams
}

// The address of a server with whom we speak something else than HTTP. What is wrong with it is said without repeating
// it: there is a password in it.
export function parseServerUrl(
  name: string,
  text: string,
  ports: Readonly<Record<string, number>>,
): ServerUrl {
  const wrong = (words: string) => new Error(`${name}: ${words}`)
  const url = readUrl(text)
  const usual = url && ports[url.protocol]
  if (!url || !usual) throw wrong(`must begin with ${Object.keys(ports).join('// or ')}//.`)
  if (!url.hostname) throw wrong('the host is missing.')
  if (url.hash || !/^\/?$/.test(url.pathname))
    throw wrong('nothing may follow the port (a # or / in the password is %23, %2F).')
  if (url.port === '0') throw wrong('the port is missing.')
  try {
    return {
      protocol: url.protocol,
      host: decodeURIComponent(url.hostname).replace(/^\[|\]$/g, ''),
      port: Number(url.port) || usual,
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      query: url.searchParams,
    }
  } catch {
    throw wrong('a % in the user or the password must be written %25.')
  }
}

export const isLoopback = (host: string) =>
  host === 'localhost' || (isIPv4(host) && host.startsWith('127.')) || (isIPv6(host) && host === '::1')
