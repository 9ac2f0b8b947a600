import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { codeOf, EmbeddedError } from './error.ts'

export type User = { uid: number; gid: number }

// Shared by all programs of the machine that have no dedicated user.
export const nobodyUser: User = { uid: 65_534, gid: 65_534 }

// Neither Debian nor systemd assigns these, and a container with 65,536 user ids has them, too. All data folders get the
// same one, because two starts on the same folder at the same time must choose the same.
const candidates = [65_528, 65_529, 65_530, 65_531]

// The user of PostgreSQL when root starts it: a user id without a name, which no other program uses. So no account has to
// be created on the machine or removed from it.
export function privateUser(numbers = candidates): User {
  const user = firstFree(numbers)
  if (user) return user
  throw new EmbeddedError(
    `PostgreSQL does not run as root, and the user ids ${numbers.join(', ')}, one of which it would run as, are ` +
      'all in use on this machine: start Tollgate as an ordinary user, or set DATABASE_URL.',
  )
}

export const isPrivate = (uid: number) => candidates.includes(uid)

// A gateway that root starts runs as one of these, never as the user of PostgreSQL or as `nobody`. 65532 is not among them
// because many container images use it.
const gatewayCandidates = [65_524, 65_525, 65_526, 65_527]

// Undefined if every candidate is in use on this machine.
export const gatewayUser = (numbers: readonly number[] = gatewayCandidates): User | undefined =>
  firstFree(numbers)

export const isGatewayGroup = (gid: number) => gatewayCandidates.includes(gid)

function firstFree(numbers: readonly number[]): User | undefined {
  const id = numbers.find(
    number => !hasName('passwd', number) && !hasName('group', number) && !isInUse(number),
  )
  return id === undefined ? undefined : { uid: id, gid: id }
}

// A directory service may have names that the file does not have.
function hasName(kind: 'passwd' | 'group', id: number): boolean {
  try {
    execFileSync('getent', [kind, String(id)], { stdio: 'ignore' })
    return true
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') return false
    return readFileSync(`/etc/${kind}`, 'utf8')
      .split('\n')
      .some(line => line.split(':')[2] === String(id))
  }
}

const execWithinMs = 100

// In the environment of all programs that Tollgate runs under such a user id.
export const mark = { RUN_BY: 'tollgate' }

// Whether another program runs under this user id, as a container may. Servers of other data folders do not count, nor do
// gateways that root started. A process without a mark may be one of Tollgate that has not called exec yet, so it is
// checked again after a moment. Without /proc (macOS) only the names are checked.
function isInUse(uid: number): boolean {
  if (!existsSync('/proc/self')) return false
  const foreign = readdirSync('/proc').filter(pid => /^\d+$/.test(pid) && isForeign(pid, uid))
  if (foreign.length === 0) return false
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, execWithinMs)
  return foreign.some(pid => isForeign(pid, uid))
}

function isForeign(pid: string, uid: number): boolean {
  try {
    if (statSync(`/proc/${pid}`).uid !== uid) return false
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    if (command === '' || /postgres|initdb|tollgate/.test(command)) return false
    return !readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`RUN_BY=${mark.RUN_BY}`) // such as the sleep of a watcher
  } catch {
    return false // it has ended
  }
}
