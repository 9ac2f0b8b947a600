import { hostname, userInfo } from 'node:os'
import type { Actor } from '../core/access/audit.ts'

// Who runs this command, for the audit log: the account of the operating system, and the machine.
export const commandActor = (): Actor => ({ kind: 'command', id: accountName(), address: hostname() })

// A container may run under an id that has no name.
function accountName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}
