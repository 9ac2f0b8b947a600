import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { usesIoUring } from '../config.ts'
import { parentsOf } from '../postgres/files.ts'
import { gatewayUser, type User } from '../postgres/user.ts'

// Root privileges cannot be dropped. The message has how to start Tollgate without them.
export class PrivilegeError extends Error {}

const howToFix =
  'Start Tollgate as an ordinary user who owns the data folder (User= in a systemd unit, --user of a container, ' +
  'su or runuser at a prompt).'

// The user that a gateway becomes once its port is bound. Undefined if it is not started by root.
export function userToBecome(): User | undefined {
  if (process.getuid?.() !== 0) return undefined
  if (usesIoUring())
    throw new PrivilegeError(
      `With UV_USE_IO_URING=1 Node would still open files as root after it has dropped root privileges. Unset it. ${howToFix}`,
    )
  const user = gatewayUser()
  if (user) return user
  throw new PrivilegeError(
    `The gateway does not serve as root, and all user ids that it would run as are in use on this machine. ${howToFix}`,
  )
}

// Changes all threads from root to a user without privileges, irreversibly. Node reads NODE_EXTRA_CA_CERTS when the first
// TLS connection is made, so the certificates are loaded before. A listener for SIGUSR1 keeps Node from opening its
// debugger: any process of the same user may send that signal, such as another gateway that root started.
export function dropPrivileges(user: User) {
  createSecureContext()
  process.on('SIGUSR1', () => {})
  try {
    process.setgroups?.([])
    process.setgid?.(user.gid)
    process.setuid?.(user.uid)
  } catch (error) {
    throw new PrivilegeError(
      `The gateway does not serve as root, and may not become user ${user.uid} (${(error as Error).message}). ${howToFix}`,
      { cause: error },
    )
  }
  const why = whyNotDropped(user)
  if (why) throw new PrivilegeError(`Root privileges were not dropped: ${why}. ${howToFix}`)
}

function whyNotDropped({ uid, gid }: User): string | undefined {
  const ids = [process.getuid?.(), process.geteuid?.()]
  const groups = [process.getgid?.(), process.getegid?.(), ...(process.getgroups?.() ?? [])]
  if (ids.some(id => id !== uid)) return `the user ids are ${ids.join(' and ')}`
  if (groups.some(id => id !== gid)) return `the group ids are ${groups.join(', ')}`
  if (mayBecomeRoot()) return 'the process can become root again'
  return process.platform === 'linux' ? threads().map(whyPrivileged(uid, gid)).find(Boolean) : undefined
}

function mayBecomeRoot(): boolean {
  try {
    process.setuid?.(0)
    return true
  } catch {
    return false
  }
}

const threads = () =>
  readdirSync('/proc/self/task').map(id => readFileSync(`/proc/self/task/${id}/status`, 'utf8'))

// From the status file of one thread.
const whyPrivileged = (uid: number, gid: number) => (status: string) => {
  const field = (name: string) => new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1]?.trim() ?? ''
  for (const [name, id] of [
    ['Uid', uid],
    ['Gid', gid],
  ] as const)
    if (
      field(name)
        .split(/\s+/)
        .some(one => one !== String(id))
    )
      return `a thread has ${name} ${field(name)}`
  for (const name of ['CapEff', 'CapPrm', 'CapAmb'])
    if (/[^0]/.test(field(name))) return `a thread has the capabilities ${name} ${field(name)}`
  return undefined
}

// Whether a user may read a file, by its mode and those of its parent folders.
export function mayRead(user: User, path: string): boolean {
  const file = realpathSync(path)
  return allows(user, file, 0o4) && parentsOf(file).every(folder => allows(user, folder, 0o1))
}

function allows({ uid, gid }: User, path: string, right: number): boolean {
  const stats = statSync(path)
  const shift = stats.uid === uid ? 6 : stats.gid === gid ? 3 : 0
  return ((stats.mode >> shift) & right) === right
}
