import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIPv4, isIPv6 } from 'node:net'
import { readUrl } from '../../core/text.ts'

// Reads settings that do not depend on each other, so that all faults are reported together.
export function readEach<T>(readers: { [Name in keyof T]: () => T[Name] }): T {
  const faults: Error[] = []
  const read: Partial<T> = {}
  for (const name in readers) {
    try {
      read[name] = readers[name]()
    } catch (error) {
      faults.push(error as Error)
    }
  }
  if (faults.length > 0) throw new AggregateError(faults, faults.map(({ message }) => message).join(' '))
  return read as T
}

type ServerUrl = {
  protocol: string
  host: string
  port: number
  user: string
  password: string
  query: URLSearchParams
}

// The URL of a server that does not speak HTTP. Error messages never quote it, because it contains a password.
export function parseServerUrl(
  name: string,
  text: string,
  defaultPorts: Readonly<Record<string, number>>,
): ServerUrl {
  const fault = (reason: string) => new Error(`${name}: ${reason}`)
  const url = readUrl(text)
  const defaultPort = url && defaultPorts[url.protocol]
  if (!url || !defaultPort) throw fault(`must begin with ${Object.keys(defaultPorts).join('// or ')}//.`)
  if (!url.hostname) throw fault('the host is missing.')
  if (url.hash || !/^\/?$/.test(url.pathname))
    throw fault('nothing may follow the port (a # or / in the password is %23, %2F).')
  if (url.port === '0') throw fault('the port is missing.')
  try {
    return {
      protocol: url.protocol,
      host: decodeURIComponent(url.hostname).replace(/^\[|\]$/g, ''),
      port: Number(url.port) || defaultPort,
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      query: url.searchParams,
    }
  } catch {
    throw fault('a % in the user or the password must be written %25.')
  }
}

export const isLoopback = (host: string) =>
  host === 'localhost' || (isIPv4(host) && host.startsWith('127.')) || (isIPv6(host) && host === '::1')

// A certificate authority to trust instead of the public ones, for a server with a private certificate.
export function readCa(name: string, path: string | undefined): string | undefined {
  if (!path) return undefined
  try {
    const pem = readFileSync(path, 'utf8')
    new X509Certificate(pem).toString()
    return pem
  } catch (error) {
    const { message } = error as Error
    throw new Error(`${name}: must be the path of a PEM file with a certificate (${message}).`, {
      cause: error,
    })
  }
}
