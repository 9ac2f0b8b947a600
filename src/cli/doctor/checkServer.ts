import type { Config } from '../../config.ts'
import { isTooOld } from '../../core/fitDatabase.ts'
import type { ServerFacts } from '../../store/serverFacts.ts'
import { type Check, failed, fine, warning } from './check.ts'

const forCommands = 2 // connections that a command takes beside the gateway
const clocksMayDifferMs = 2000

// What a database server said about itself, judged. Its clock is `aheadMs` before ours.
export const checkServer = (server: ServerFacts, aheadMs: number, config: Config): Check[] => [
  checkVersion(server),
  checkDurability(server),
  checkConnections(server, config),
  checkClocks(aheadMs),
]

const checkVersion = (server: ServerFacts): Check =>
  isTooOld(server)
    ? failed('database', `PostgreSQL ${server.version}`, 'Tollgate needs PostgreSQL 15 or later.')
    : fine('database', `PostgreSQL ${server.version}, a primary`)

function checkDurability(server: ServerFacts): Check {
  const names = ['fsync', 'synchronous_commit', 'full_page_writes'] as const
  const off = names.filter(name => server[name] === 'off').map(name => `${name} is off`)
  if (off.length === 0) return fine('durability', 'the database writes to the disk before it says yes')
  const todo = 'Set it to on in the database: a power cut could lose payments that merchants believe stored.'
  return failed('durability', off.join(', '), todo)
}

function checkConnections({ connections, in_use }: ServerFacts, { TOLLGATE_POOL_SIZE: pool }: Config): Check {
  const fact = `${in_use} of ${connections} in use; a gateway takes up to ${pool}`
  if (connections >= pool + forCommands) return fine('connections', fact)
  return failed('connections', fact, 'Raise max_connections in the database, or lower TOLLGATE_POOL_SIZE.')
}

function checkClocks(aheadMs: number): Check {
  if (Math.abs(aheadMs) <= clocksMayDifferMs) return fine('clocks', 'this machine and the database agree')
  const seconds = (Math.abs(aheadMs) / 1000).toFixed(1)
  const fact = `the database is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine`
  const todo =
    'Payments go by the clock of the database. But certificates are judged, and log lines dated, by that of this ' +
    'machine: let both follow a time server (timedatectl set-ntp true).'
  return warning('clocks', fact, todo)
}
