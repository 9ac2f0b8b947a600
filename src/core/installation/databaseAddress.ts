import { databaseUrlParts } from '../databaseUrl.ts'

// How a node reaches its database, as text without user and password. Nodes that use the same route have the same address,
// and a copy of the database somewhere else has another one. Several hosts are several addresses in one text, with a space
// between them.

const defaultPort = '5432'
const loopback = /^(localhost|127(\.\d{1,3}){3}|::1|0\.0\.0\.0)?$/i

// Of a DATABASE_URL. "localhost" names another server on every machine, so it is combined with the id of the machine. A
// machine without an id, such as a container, has only the name: there a sidecar proxy often listens on localhost, and the
// name of the container changes with every start.
export function databaseAddress(url: string, machine: string | undefined): string {
  const { login, hosts, rest } = databaseUrlParts(url)
  const [user = ''] = login.split(/[:@]/)
  const [, path = '', query = ''] = /^\/?([^?]*)\??(.*)$/s.exec(rest) ?? []
  const given = new URLSearchParams(query) // the driver prefers these to the host and the port of the URL
  const database = path || user
  const addresses = hosts.split(',').map(text => {
    const { host, port } = splitPort(text)
    const name = decoded(given.get('host') || host).toLowerCase()
    return oneAddress(name, given.get('port') || port, database, machine)
  })
  return [...new Set(addresses)].toSorted().join(' ')
}

// Of the data folder of the private PostgreSQL: its real path, and the machine.
export const folderAddress = (realPath: string, machine: string) => `${encodeURI(realPath)}@${machine}`

export const addressesIn = (text: string): string[] => text.split(' ').filter(address => address !== '')

function oneAddress(name: string, port: string, database: string, machine: string | undefined) {
  const isLocal = loopback.test(name) || name.startsWith('/')
  const host = loopback.test(name) ? 'localhost' : name.includes(':') ? `[${name}]` : encodeURI(name)
  return `${host}:${port || defaultPort}/${database}${isLocal && machine ? `@${machine}` : ''}`
}

// An IPv6 address has brackets.
function splitPort(text: string) {
  const [, inBrackets, plain = '', port = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d*))?$/.exec(text) ?? []
  return { host: inBrackets ?? plain, port }
}

function decoded(text: string) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
