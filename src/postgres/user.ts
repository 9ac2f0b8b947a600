import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { codeOf, EmbeddedError } from './error.ts'

export type User = { uid: number; gid: number }

// Everybody's: whatever else on the machine has no user of its own runs as this one.
export const nobody: User = { uid: 65_534, gid: 65_534 }

// Neither Debian nor systemd gives these to anybody, and a container that knows 65,536 users has them too. All data
// folders get the same one: another start on the same folder, at the same time, must come to the same number.
const candidates = [65_528, 65_529, 65_530, 65_531]

// Whom PostgreSQL runs as when root starts it: a number without a name, which nobody else is. There is no account to
// make on the machine, or to remove again.
export function privateUser(numbers = candidates): User {
  const user = firstFree(numbers)
  if (user) return user
  throw new EmbeddedError(
    `PostgreSQL does not run as root, and the user ids ${numbers.join(', ')}, one of which it would run as, are ` +
      'all in use on this machine: start Tollgate as an ordinary user, or set DATABASE_URL.',
  )
}

export const isPrivate = (uid: number) => candidates.includes(uid)

// The gateway that root starts runs as one of these: never as the user of the database, nor as nobody. 65532 is not
// among them because many container images run their program as it.
const gatewayCandidates = [65_524, 65_525, 65_526, 65_527]

// Undefined if every candidate is in use on this machine.
export const gatewayUser = (numbers: readonly number[] = gatewayCandidates): User | undefined =>
  firstFree(numbers)

export const isGatewayGroup = (gid: number) => gatewayCandidates.includes(gid)

function firstFree(numbers: readonly number[]): User | undefined {
  const id = numbers.find(
    number => !hasName('passwd', number) && !hasName('group', number) && !isLent(number),
  )
  return id === undefined ? undefined : { uid: id, gid: id }
}

// Names may come from elsewhere than the file, such as from a directory of a company.
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

const beginsWithinMs = 100

// In the environment of all that we run under such a number.
export const mark = { RUN_BY: 'tollgate' }

// A container may run under any number. Servers of other data folders do not count, nor do gateways that root started.
// Without /proc (macOS) the names alone decide.
// A process that is found once may be one of ours, shortly before its program begins: it has no mark yet.
function isLent(uid: number): boolean {
  if (!existsSync('/proc/self')) return false
  const found = readdirSync('/proc').filter(pid => /^\d+$/.test(pid) && isStranger(pid, uid))
  if (found.length === 0) return false
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, beginsWithinMs)
  return found.some(pid => isStranger(pid, uid))
}

function isStranger(pid: string, uid: number): boolean {
  try {
    if (statSync(`/proc/${pid}`).uid !== uid) return false
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    if (command === '' || /postgres|initdb|tollgate/.test(command)) return false
    return !readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`RUN_BY=${mark.RUN_BY}`) // such as a sleep of a watcher
  } catch {
    return false // it has ended
  }
}
