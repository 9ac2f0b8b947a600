import { closeSync, fchmodSync, fchownSync, fsyncSync, openSync, writeFileSync } from 'node:fs'
import type { User } from '../user.ts'

// A new file that is on the disk, and that its owner alone may read. Nothing that lies there already is followed.
export function writeFor({ uid, gid }: User, path: string, text: string) {
  const file = openSync(path, 'wx', 0o600)
  try {
    fchmodSync(file, 0o600) // whatever the umask
    if (process.getuid?.() === 0) fchownSync(file, uid, gid)
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

export function syncFolder(path: string) {
  const folder = openSync(path, 'r')
  fsyncSync(folder)
  closeSync(folder)
}
